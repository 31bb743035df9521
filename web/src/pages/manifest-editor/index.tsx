/** Write a manifest: what may stand where is offered, and what is wrong is said while it is written. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { answer, api } from "../../api/client";
import { Trouble, Waiting } from "../../ui/parts";
import { draft } from "./draft";
import { Editor } from "./editor";
import { kindOf, SKELETONS } from "./skeletons";

const here = getRouteApi("/manifests/edit");

export function ManifestEditor() {
  const search = here.useSearch();
  const kind = kindOf(search.kind);
  const { name } = search;
  const versions = useQuery({
    queryKey: ["versions", kind, name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind, name: name! } } })),
    enabled: name !== undefined && search.version === undefined,
  });
  const version = search.version ?? versions.data?.items[0]?.version;
  const found = useQuery({
    queryKey: ["manifest", kind, name, version],
    queryFn: () =>
      answer(
        api.GET("/api/v1/manifests/{kind}/{name}/{version}", {
          params: { path: { kind, name: name!, version: version! } },
        }),
      ),
    enabled: name !== undefined && version !== undefined,
    staleTime: Infinity,
  });
  const recorded = useQuery({
    queryKey: ["record manifests", search.record],
    queryFn: () =>
      answer(api.GET("/api/v1/records/{name}/manifests", { params: { path: { name: search.record! } } })).then(
        (all) => all.items.find((each) => each.kind === kind)?.text ?? "",
      ),
    enabled: search.record !== undefined,
    staleTime: Infinity,
  });
  const address = { kind, name, version: search.version, record: search.record };
  const begun = draft.read(address);
  const error = versions.error ?? found.error ?? recorded.error;
  if ((name || search.record) && error && begun === null)
    return (
      <>
        <Trouble error={error} again={() => void (versions.error ? versions : found).refetch()} />
        <p className="mt-4 text-sm">
          <Link to="/manifests/edit">Begin a new one</Link>
        </p>
      </>
    );
  if (name && !found.data && begun === null) return <Waiting />;
  if (search.record && recorded.data === undefined && begun === null) return <Waiting />;
  const original = recorded.data || (found.data?.text ?? (name ? "" : SKELETONS[kind]));
  return (
    <Editor
      key={`${kind} ${name} ${search.version} ${search.record}`}
      address={address}
      kind={kind}
      original={original}
      text={begun ?? original}
    />
  );
}
