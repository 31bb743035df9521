/** What can be done with several records at once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { basket, MOST } from "../../lib/basket";
import { plural } from "../../lib/format";
import { INPUT } from "../../ui/field";
import { Button, Trouble } from "../../ui/parts";
import { useMay } from "../../ui/shell";

interface Props {
  records: readonly string[];
  clear: () => void;
}

export function Selected({ records, clear }: Props) {
  const mayRun = useMay("run");
  const mayDelete = useMay("admin");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: async ({ each }: { each: (name: string) => Promise<unknown>; done?: () => void }) => {
      for (const record of records) await each(record);
    },
    onSuccess: (_, { done }) => done?.(),
    onSettled: () =>
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("record") }),
  });
  const pin = (pinned: boolean) =>
    act.mutate({
      each: (name) => answer(api.POST("/api/v1/records/{name}/pin", { params: { path: { name } }, body: { pinned } })),
    });
  function remove() {
    const what = plural(records.length, "record");
    if (!window.confirm(`Delete ${what} with all files? This cannot be undone.`)) return;
    act.mutate({
      each: async (name) => {
        await answer(api.DELETE("/api/v1/records/{name}", { params: { path: { name } } }));
        basket.remove(name);
      },
      done: clear,
    });
  }
  if (!records.length) return null;
  return (
    <section
      aria-label="Selected records"
      className="sticky bottom-3 z-10 mt-4 rounded-xl border border-line bg-card p-3 shadow-lg"
    >
      <div className="flex flex-wrap items-center gap-2">
        <span className="mr-2 text-sm" role="status">
          {plural(records.length, "record")} selected
        </span>
        <Button
          kind="main"
          disabled={records.length > MOST}
          title={records.length > MOST ? `${MOST} records can be compared at once` : undefined}
          onClick={() => {
            basket.put(records);
            void navigate({ to: "/compare" });
          }}
        >
          Compare
        </Button>
        {mayRun && (
          <>
            <Button disabled={act.isPending} onClick={() => pin(true)}>
              Pin
            </Button>
            <Button disabled={act.isPending} onClick={() => pin(false)}>
              Unpin
            </Button>
            <AddTag
              disabled={act.isPending}
              onAdd={(tag) =>
                act.mutate({
                  each: (name) =>
                    answer(api.POST("/api/v1/records/{name}/tags", { params: { path: { name } }, body: { tag } })),
                })
              }
            />
          </>
        )}
        {mayDelete && (
          <Button kind="danger" disabled={act.isPending} onClick={remove}>
            Delete
          </Button>
        )}
        <Button className="ml-auto" onClick={clear}>
          Clear selection
        </Button>
      </div>
      {act.error && (
        <div className="mt-3">
          <Trouble error={act.error} />
        </div>
      )}
    </section>
  );
}

function AddTag({ disabled, onAdd }: { disabled: boolean; onAdd: (tag: string) => void }) {
  const [tag, setTag] = useState("");
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (tag.trim()) onAdd(tag.trim());
        setTag("");
      }}
    >
      <input
        aria-label="Tag"
        placeholder="Tag"
        maxLength={50}
        value={tag}
        onChange={(event) => setTag(event.target.value)}
        className={`${INPUT} !w-28`}
      />
      <Button type="submit" disabled={disabled || !tag.trim()}>
        Add tag
      </Button>
    </form>
  );
}
