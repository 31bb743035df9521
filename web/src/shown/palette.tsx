/** A dialog that searches models, datasets, records, claims and pages at once, or lists the keyboard shortcuts. */
import * as Dialog from "@radix-ui/react-dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useState } from "react";
import { answer, api } from "../api/client";
import { GOES, type Shown } from "../ui/shortcuts";

const EACH = 5;

interface Found {
  kind: string;
  name: string;
  about?: string;
  go: () => Promise<void>;
}

export default function Palette({ what, close }: { what: Shown; close: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[8vh] z-30 mx-auto max-h-[80vh] max-w-xl overflow-y-auto rounded-xl border border-line bg-card p-4 shadow-xl"
        >
          <div className="mb-3 flex items-center justify-between gap-3">
            <Dialog.Title className="text-base font-medium">
              {what === "search" ? "Search" : "Keyboard shortcuts"}
            </Dialog.Title>
            <Dialog.Close aria-label="Close" className="cursor-pointer px-2 text-muted">
              ✕
            </Dialog.Close>
          </div>
          {what === "search" ? <Search close={close} /> : <Keys />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ close }: { close: () => void }) {
  const [words, setWords] = useState("");
  const [place, setPlace] = useState(0);
  const found = useFound(useDeferredValue(words.trim()));
  const at = Math.min(place, Math.max(0, found.length - 1));
  function take(each: Found | undefined) {
    if (!each) return;
    close();
    void each.go();
  }
  function pressed(event: KeyboardEvent) {
    if (event.key === "ArrowDown") setPlace(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") setPlace(Math.max(at - 1, 0));
    else if (event.key === "Enter") take(found[at]);
    else return;
    event.preventDefault();
  }
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Search everything"
        aria-expanded={found.length > 0}
        aria-controls="palette-results"
        aria-activedescendant={found.length ? `palette-${at}` : undefined}
        autoFocus
        maxLength={200}
        value={words}
        placeholder="Models, datasets, records, claims, pages"
        onChange={(event) => {
          setWords(event.target.value);
          setPlace(0);
        }}
        onKeyDown={pressed}
        className="w-full rounded-lg border border-line bg-paper px-3 py-2"
      />
      <ul id="palette-results" role="listbox" aria-label="Results" className="mt-3 text-sm">
        {found.map((each, number) => (
          <li
            key={`${each.kind} ${each.name} ${number}`}
            id={`palette-${number}`}
            role="option"
            aria-selected={number === at}
            onClick={() => take(each)}
            className={`flex cursor-pointer items-baseline gap-3 rounded-lg px-3 py-2 hover:bg-soft ${number === at ? "bg-soft" : ""}`}
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {each.name} {each.about && <span className="text-muted">{each.about}</span>}
            </span>
            <span className="ml-auto shrink-0 text-xs text-muted">{each.kind}</span>
          </li>
        ))}
      </ul>
      {words && !found.length && <p className="p-3 text-sm text-muted">No matches.</p>}
    </>
  );
}

/** Pages at once; of the rest the first few of each kind, as the server finds them. */
function useFound(q: string): Found[] {
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ["everything", q],
    enabled: q !== "",
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const query = { q, limit: EACH };
      const [models, datasets, records, claims] = await Promise.all([
        answer(api.GET("/api/v1/models", { params: { query } })),
        answer(api.GET("/api/v1/datasets", { params: { query } })),
        answer(api.GET("/api/v1/records", { params: { query } })),
        answer(api.GET("/api/v1/published-claims", { params: { query } })),
      ]);
      return { models: models.items, datasets: datasets.items, records: records.items, claims: claims.items };
    },
  });
  const pages = GOES.filter(([, , name]) => name.toLowerCase().includes(q.toLowerCase())).map(
    ([key, to, name]): Found => ({ kind: `page, g ${key}`, name, go: () => navigate({ to }) }),
  );
  if (!q || !data) return pages;
  return [
    ...data.models.map(({ name, description }): Found => ({
      kind: "model",
      name,
      about: brief(description),
      go: () => navigate({ to: "/models/$name", params: { name } }),
    })),
    ...data.datasets.map(({ name, description }): Found => ({
      kind: "dataset",
      name,
      about: brief(description),
      go: () => navigate({ to: "/datasets/$name", params: { name } }),
    })),
    ...data.records.map(({ id, model, dataset }): Found => ({
      kind: "record",
      name: `${model} on ${dataset}`,
      about: id,
      go: () => navigate({ to: "/records/$id", params: { id } }),
    })),
    ...data.claims.map(({ model, metric, value, dataset }): Found => ({
      kind: "claim",
      name: model,
      about: `${metric} ${value}${dataset ? ` on ${dataset}` : ""}`,
      go: () => navigate({ to: "/replications", search: { q: model } }),
    })),
    ...pages,
  ];
}

const brief = (text: string | null | undefined): string | undefined => text?.split("\n")[0]?.slice(0, 80);

function Keys() {
  const rows = [
    ["/ or Ctrl K", "Search"],
    ["?", "Show this list"],
    ["Esc", "Close a dialog"],
    ...GOES.map(([key, , name]) => [`g ${key}`, `Go to ${name}`]),
  ] as const;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
      {rows.map(([keys, about]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border border-line bg-soft px-1.5 py-0.5 text-xs">{keys}</kbd>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  );
}
