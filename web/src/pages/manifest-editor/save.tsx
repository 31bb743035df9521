/** Putting a manifest on the server: a version never changes, so another text is another version. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { Button } from "../../ui/parts";
import type { Kind } from "./skeletons";
import { nextVersion, said, withVersion } from "./version";

interface Props {
  text: string;
  /** The text when it was last checked: what is on the server is not asked for with every letter. */
  settled: string;
  kind: Kind;
  broken: boolean;
  onText: (text: string) => void;
  onSaved: (saved: Schemas["Manifest"]) => void;
}

export function Save({ text, settled, kind, broken, onText, onSaved }: Props) {
  const name = said(text, "name");
  const version = said(text, "version");
  const called = said(settled, "name");
  const versions = useQuery({
    queryKey: ["versions", "known", kind, called],
    queryFn: () =>
      answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind, name: called! } } })).catch(
        (error: unknown) => {
          if (error instanceof Problem && error.status === 404) return { items: [] };
          throw error;
        },
      ),
    enabled: called !== null,
    retry: false,
  });
  const known = versions.data?.items.map((each) => each.version) ?? [];
  const free = nextVersion(known);
  const taken = version !== null && known.includes(version);
  const save = useMutation({
    mutationFn: (what: string) => answer(api.POST("/api/v1/manifests", { body: { text: what } })),
    onSuccess: onSaved,
    // What is there is known better now: this one, or the one that somebody else has put there.
    onSettled: () => versions.refetch(),
  });
  function saveAs(next: string) {
    const changed = withVersion(text, next);
    onText(changed);
    save.mutate(changed);
  }
  const ready = name !== null && version !== null && !broken && !save.isPending;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        {taken ? (
          <Button kind="main" disabled={!ready} onClick={() => saveAs(free)}>
            Save as version {free}
          </Button>
        ) : (
          <Button kind="main" disabled={!ready} onClick={() => save.mutate(text)}>
            {name && version ? `Save ${name}@${version}` : "Save"}
          </Button>
        )}
      </div>
      <p className="text-sm text-muted" aria-live="polite">
        {save.isPending
          ? "Saving …"
          : broken
            ? "What is wrong must be mended before it can be saved."
            : taken
              ? `${version} is there already, and a version never changes.`
              : ""}
      </p>
      {save.data && <Saved of={save.data} />}
      {save.error && <Clash error={save.error} free={free} again={() => saveAs(free)} />}
    </div>
  );
}

function Saved({ of }: { of: Schemas["Manifest"] }) {
  return (
    <p role="status" className="rounded-lg bg-good-soft px-3 py-2 text-sm text-good">
      {of.name}@{of.version} is on the server.{" "}
      {of.kind === "model" && (
        <Link to="/models/$name" params={{ name: of.name }} search={{ version: of.version }} className="underline">
          To its page
        </Link>
      )}
    </p>
  );
}

function Clash({ error, free, again }: { error: Error; free: string; again: () => void }) {
  const clashes = error instanceof Problem && error.status === 409;
  return (
    <div role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm">
      <p className="whitespace-pre-line text-bad">{error.message}</p>
      {error instanceof Problem && error.hint && <p>{error.hint}</p>}
      {clashes && (
        <Button className="mt-2" onClick={again}>
          Save as version {free}
        </Button>
      )}
    </div>
  );
}
