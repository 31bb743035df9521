/** Putting a manifest on the server: a version never changes, so another text is another version. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { useEffect, useRef } from "react";
import { Button } from "../../ui/parts";
import { useMe } from "../../ui/shell";
import type { Kind } from "./skeletons";
import { nextVersion, ownName, said, saying } from "./version";

interface Props {
  text: string;
  /** The text when it was last checked: what is on the server is not asked for with every letter. */
  settled: string;
  kind: Kind;
  /** Why it cannot be saved as it is. */
  obstacle: string | null;
  onText: (text: string) => void;
  onSaved: (saved: Schemas["Manifest"]) => void;
}

export function Save({ text, settled, kind, obstacle, onText, onSaved }: Props) {
  const name = said(text, "name");
  const version = said(text, "version");
  const called = said(settled, "name");
  const { data: me } = useMe();
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
  const items = versions.data?.items ?? [];
  const known = items.map((each) => each.version);
  const free = nextVersion(known);
  const taken = version !== null && known.includes(version);
  // A name belongs to who used it first; that of the catalog to the server.
  const foreign = !me?.scopes.includes("admin") && items.some((each) => each.shipped || each.owner !== me?.owner);
  const own = ownName(name ?? "", me?.owner ?? "");
  const save = useMutation({
    mutationFn: (what: string) => answer(api.POST("/api/v1/manifests", { body: { text: what } })),
    onSuccess: onSaved,
    // What is there is known better now: this one, or the one that somebody else has put there.
    onSettled: () => versions.refetch(),
  });
  function saveAs(changed: string) {
    onText(changed);
    save.mutate(changed);
  }
  const ready = name !== null && version !== null && obstacle === null && !save.isPending;
  return (
    <div className="space-y-2 rounded-xl border border-line bg-card p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        {foreign ? (
          <Button kind="main" disabled={!ready} onClick={() => saveAs(saying(text, "name", own))}>
            Save a copy as {own}
          </Button>
        ) : taken ? (
          <Button kind="main" disabled={!ready} onClick={() => saveAs(saying(text, "version", free))}>
            Save as version {free}
          </Button>
        ) : (
          <Button kind="main" disabled={!ready} onClick={() => save.mutate(text)}>
            {name && version ? `Save ${name}@${version}` : "Save"}
          </Button>
        )}
        <p className="min-w-0 text-sm text-muted" aria-live="polite">
          {save.isPending
            ? "Saving …"
            : (obstacle ??
              (foreign
                ? `The name ${name} belongs to ${items.some((each) => each.shipped) ? "the server" : "another user"}.`
                : taken
                  ? `${version} is there already, and a version never changes.`
                  : ""))}
        </p>
      </div>
      {save.data && <Saved of={save.data} />}
      {save.error && <Clash error={save.error} free={free} again={() => saveAs(saying(text, "version", free))} />}
    </div>
  );
}

function Saved({ of }: { of: Schemas["Manifest"] }) {
  return (
    <p role="status" className="rounded-lg bg-good-soft px-3 py-2 text-sm text-good">
      {of.name}@{of.version} is on the server.{" "}
      {of.kind === "model" && (
        <>
          <Link to="/models/$name" params={{ name: of.name }} search={{ version: of.version }} className="underline">
            To its page
          </Link>
          {Array.isArray(of.manifest.claims) && of.manifest.claims.length > 0 && (
            <>
              {" · "}
              <Link to="/replications/new" search={{ model: `${of.name}@${of.version}` }} className="underline">
                Check its claims
              </Link>
            </>
          )}
        </>
      )}
    </p>
  );
}

function Clash({ error, free, again }: { error: Error; free: string; again: () => void }) {
  const clashes = error instanceof Problem && error.status === 409;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void place.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return (
    <div ref={place} role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm">
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
