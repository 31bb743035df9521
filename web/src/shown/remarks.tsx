/** Tags and notes that people put beside a record, and whether retention keeps it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { INPUT } from "../ui/field";
import { Badge, Button, Card, Trouble } from "../ui/parts";
import { useMay, useMe } from "../ui/shell";
import { When } from "../ui/when";

type Remarks = Schemas["Remarks"];

export function RecordRemarks({ record }: { record: string }) {
  const key = ["record-remarks", record];
  const queries = useQueryClient();
  const mayRun = useMay("run");
  const found = useQuery({
    queryKey: key,
    queryFn: () => answer(api.GET("/api/v1/records/{name}/remarks", { params: { path: { name: record } } })),
  });
  const change = useMutation({
    mutationFn: (asked: Promise<Remarks>) => asked,
    onSuccess: (remarks) => queries.setQueryData(key, remarks),
  });
  const path = { name: record };
  const pin = useMutation({
    mutationFn: (pinned: boolean) =>
      answer(api.POST("/api/v1/records/{name}/pin", { params: { path }, body: { pinned } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: key }),
  });
  const remarks = found.data;
  if (!remarks || (!mayRun && !remarks.tags.length && !remarks.notes.length)) return null;
  const trouble = change.error ?? pin.error;
  return (
    <Card
      title="Tags and notes"
      aside={
        <span className="flex items-center gap-3">
          {remarks.pinned_by && <>pinned by {remarks.pinned_by}: retention keeps it</>}
          {mayRun && (
            <Button disabled={pin.isPending} onClick={() => pin.mutate(!remarks.pinned_by)}>
              {remarks.pinned_by ? "Unpin" : "Pin"}
            </Button>
          )}
        </span>
      }
    >
      <Tags remarks={remarks} act={change.mutate} />
      <Notes remarks={remarks} act={change.mutate} />
      {trouble && (
        <div className="mt-3">
          <Trouble error={trouble} />
        </div>
      )}
    </Card>
  );
}

interface Part {
  remarks: Remarks;
  act: (asked: Promise<Remarks>) => void;
}

/** Authors and administrators take things away again. */
function useMayRemove(): (owner: string) => boolean {
  const me = useMe();
  const [run, admin] = [useMay("run"), useMay("admin")];
  return (owner) => run && (admin || me.data?.owner === owner);
}

function Tags({ remarks, act }: Part) {
  const mayRun = useMay("run");
  const mayRemove = useMayRemove();
  const [tag, setTag] = useState("");
  const name = remarks.record;
  function add(event: FormEvent) {
    event.preventDefault();
    act(answer(api.POST("/api/v1/records/{name}/tags", { params: { path: { name } }, body: { tag } })));
    setTag("");
  }
  const remove = (each: string) =>
    act(answer(api.DELETE("/api/v1/records/{name}/tags/{tag}", { params: { path: { name, tag: each } } })));
  return (
    <div className="flex flex-wrap items-center gap-2">
      {remarks.tags.map((each) => (
        <Badge key={each.tag}>
          <span title={`by ${each.owner}`}>{each.tag}</span>
          {mayRemove(each.owner) && (
            <button
              type="button"
              aria-label={`Remove the tag ${each.tag}`}
              className="ml-1.5 cursor-pointer"
              onClick={() => remove(each.tag)}
            >
              ✕
            </button>
          )}
        </Badge>
      ))}
      {mayRun && (
        <form onSubmit={add} className="flex gap-2 text-sm">
          <input
            aria-label="New tag"
            placeholder="Tag"
            required
            maxLength={50}
            value={tag}
            onChange={(event) => setTag(event.target.value)}
            className={`${INPUT} !w-32`}
          />
          <Button type="submit">Add tag</Button>
        </form>
      )}
    </div>
  );
}

function Notes({ remarks, act }: Part) {
  const mayRun = useMay("run");
  const mayRemove = useMayRemove();
  const [text, setText] = useState("");
  const name = remarks.record;
  function add(event: FormEvent) {
    event.preventDefault();
    act(answer(api.POST("/api/v1/records/{name}/notes", { params: { path: { name } }, body: { text } })));
    setText("");
  }
  const remove = (note: string) =>
    act(answer(api.DELETE("/api/v1/records/{name}/notes/{note}", { params: { path: { name, note } } })));
  return (
    <div className="mt-4 space-y-3 text-sm">
      {remarks.notes.map((each) => (
        <article key={each.id} className="border-l-2 border-line pl-3">
          <p className="whitespace-pre-line [overflow-wrap:anywhere]">{each.text}</p>
          <p className="mt-0.5 text-xs text-muted">
            {each.owner}, <When at={each.at} />
            {mayRemove(each.owner) && (
              <button
                type="button"
                className="ml-3 cursor-pointer underline"
                onClick={() => window.confirm("Remove this note?") && remove(each.id)}
              >
                Remove
              </button>
            )}
          </p>
        </article>
      ))}
      {mayRun && (
        <form onSubmit={add} className="space-y-2">
          <textarea
            aria-label="New note"
            placeholder="What should others know about this record?"
            required
            rows={2}
            maxLength={4000}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className={INPUT}
          />
          <Button type="submit">Add note</Button>
        </form>
      )}
    </div>
  );
}
