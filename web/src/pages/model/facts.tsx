/** What a model is: what it takes and gives, how large it is, whose it is, and where to read about it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { bytes } from "../../lib/format";
import { gives, inMillions, type Side, takes } from "../../lib/takes";
import { References } from "../../shown/references";
import { Fact, Facts } from "../../ui/parts";

type Said = Record<string, unknown>;

export function ModelFacts({ manifest }: { manifest: Schemas["Manifest"] }) {
  const { name, version } = manifest;
  const said = manifest.manifest as Said;
  const found = useQuery({
    queryKey: ["model facts", name, version, manifest.digest],
    queryFn: () => answer(api.GET("/api/v1/models/{name}/facts", { params: { path: { name }, query: { version } } })),
    retry: false,
    staleTime: 60_000,
  });
  const facts = found.data;
  const isWaiting = found.isPending;
  const license = said.license ?? said.licence;
  const author = said.author ?? manifest.owner;
  return (
    <>
      <Facts>
        <Fact name="Task">{(manifest.task ?? "–").replaceAll("_", " ")}</Fact>
        <Fact name="Framework">{[manifest.framework ?? "–", versionOf(said)].filter(Boolean).join(" ")}</Fact>
        <Fact name="Parameters">
          {isWaiting ? "…" : facts?.parameters != null ? inMillions(facts.parameters) : <Unknown why={facts?.reason} />}
        </Fact>
        <Fact name="Size">
          {isWaiting ? "…" : facts?.size_bytes != null ? bytes(facts.size_bytes) : <Unknown why={facts?.reason} />}
        </Fact>
        {facts?.flops != null && <Fact name="Operations of one call">{inMillions(facts.flops)}</Fact>}
        <Fact name="License">{license ? String(license) : "unknown"}</Fact>
        {author != null && <Fact name="Author">{String(author)}</Fact>}
        {typeof said.dataset === "string" && <Fact name="Dataset">{said.dataset}</Fact>}
      </Facts>
      <div className="mt-5 grid gap-5 text-sm sm:grid-cols-2">
        <Sides title="Takes" sides={takes(said)} />
        <Sides title="Gives" sides={gives(said)} />
      </div>
      {facts?.has_network && (
        <p className="mt-4 text-sm">
          <Link to="/models/$name/layers" params={{ name }} search={{ version }}>
            Look at its layers
          </Link>
        </p>
      )}
      {facts?.source === "catalog" && (
        <p className="mt-4 text-sm text-muted">Parameters and size are those that the catalog has.</p>
      )}
      <References references={said.references} />
    </>
  );
}

/** Which versions of the framework will do. */
function versionOf(said: Said): string {
  const wanted = (said.framework as Said | undefined)?.version;
  return typeof wanted === "string" && wanted !== "*" ? wanted : "";
}

function Unknown({ why }: { why: string | null | undefined }) {
  return (
    <span className="text-muted" title={why ?? undefined}>
      unknown
    </span>
  );
}

function Sides({ title, sides }: { title: string; sides: Side[] }) {
  if (!sides.length) return null;
  return (
    <div>
      <h3 className="text-xs font-normal text-muted">{title}</h3>
      <ul className="mt-1 space-y-1.5">
        {sides.map((side, place) => (
          <li key={place} className="[overflow-wrap:anywhere]">
            {side.words}
            {side.detail && <span className="block text-xs text-muted">{side.detail}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
