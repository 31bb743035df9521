import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { Button, Heading, Trouble, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { Begin } from "./begin";
import { diagnosticsOf, LONGEST, mended, useCheck } from "./check";
import type { Handle } from "./code";
import { type Address, draft } from "./draft";
import { AskBeforeLeaving } from "./leave";
import { placeOf } from "./place";
import { type Finding, Problems } from "./problems";
import { Save } from "./save";
import { at, type Node } from "./schema";
import { type Kind, kindOf, KINDS } from "./skeletons";

const Code = lazy(() => import("./code"));

interface Props {
  address: Address;
  kind: Kind;
  original: string;
  text: string;
}

export function Editor({ address, kind: first, original, text: begun }: Props) {
  const navigate = useNavigate();
  const may = useMay("run");
  const [text, setText] = useState(begun);
  const [notes, setNotes] = useState<string[]>([]);
  const [beginning, setBeginning] = useState(false);
  const kept = useRef(original);
  const code = useRef<Handle>(null);
  const { checked, error, gone, settled } = useCheck(text);
  const kind = kindOf(checked?.kind ?? first);
  const schema = useQuery({
    queryKey: ["schema", kind],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/schema", { params: { path: { kind } } })),
    staleTime: Infinity,
  });
  const rules = schema.data as Node | undefined;
  const tasks = (rules ? at(rules, ["task"]) : []).flatMap((each) => each.enum ?? []).map(String);
  const write = useCallback(
    (now: string) => {
      setText(now);
      if (now === kept.current) draft.forget(address);
      else draft.keep(address, now);
    },
    [address],
  );
  const findings = useMemo(() => checked?.findings ?? [], [checked]);
  const diagnostics = useMemo(() => diagnosticsOf(settled, findings), [settled, findings]);
  const convert = useMutation({
    mutationFn: () => answer(api.POST("/api/v1/manifests/convert", { body: { text, explain: false } })),
    onSuccess: (said) => {
      write(said.text);
      setNotes(said.notes);
    },
  });
  function open(said: Schemas["Begun"]) {
    write(said.manifest);
    setNotes([...said.notes, ...said.not_expressed.map((each) => `not expressed: ${each}`)]);
    setBeginning(false);
  }
  function saved(said: Schemas["Manifest"]) {
    kept.current = said.text;
    draft.forget(address);
  }
  const goTo = (finding: Finding) => {
    const { from, to } = placeOf(text, finding.line, finding.column);
    code.current?.goTo(from, to);
  };
  const broken = (checked?.problems.length ?? 0) > 0 || !text.trim();
  return (
    <>
      <AskBeforeLeaving when={() => text !== kept.current && draft.read(address) !== null} />
      <Heading
        title={address.name ? `Edit ${address.name}` : "New manifest"}
        about="What may stand where is offered as you type (Ctrl-Space asks for it), and what is wrong is said at once."
        actions={
          <>
            {!address.name && (
              <Kinds
                kind={first}
                onChange={(next) => void navigate({ to: "/manifests/edit", search: { kind: next } })}
              />
            )}
            {may && <Button onClick={() => setBeginning(true)}>From a model file</Button>}
            <Button disabled={convert.isPending || !text.trim()} onClick={() => convert.mutate()}>
              Convert to today's form
            </Button>
            {text !== original && <Button onClick={() => write(original)}>Start over</Button>}
          </>
        }
      />
      <div className="space-y-4">
        {beginning && <Begin tasks={tasks} onBegun={open} onClose={() => setBeginning(false)} />}
        {gone && (
          <p role="alert" className="rounded-xl bg-warn-soft px-4 py-3 text-sm text-warn">
            The server does not answer. Your text is kept here, and will be checked when it is back.
          </p>
        )}
        {error && !gone && <Trouble error={error} />}
        {convert.error && <Trouble error={convert.error} />}
        {text.length > LONGEST && <Trouble error={new Error("A manifest has at most 1,000,000 letters.")} />}
        {notes.length > 0 && <Notes of={notes} onClose={() => setNotes([])} />}
        <Suspense fallback={<Waiting what="Opening the editor" />}>
          <Code ref={code} text={text} onChange={write} schema={rules} diagnostics={diagnostics} />
        </Suspense>
        <div className="grid gap-6 lg:grid-cols-[1fr_18rem]">
          <section aria-label="What is wrong" aria-live="polite" className="min-w-0">
            {!text.trim() ? (
              <p className="text-sm text-muted">Write something, paste a manifest, or begin from a model file.</p>
            ) : checked ? (
              <>
                {checked.dialect && (
                  <p className="mb-2 text-sm text-warn">{`It is written in an older form (${checked.dialect}); it can be converted.`}</p>
                )}
                <Problems findings={findings} goTo={goTo} mend={(each) => write(mended(text, each.fix))} />
              </>
            ) : (
              !gone && <p className="text-sm text-muted">Checking …</p>
            )}
          </section>
          {may && <Save text={text} settled={settled} kind={kind} broken={broken} onText={write} onSaved={saved} />}
        </div>
      </div>
    </>
  );
}

function Kinds({ kind, onChange }: { kind: Kind; onChange: (kind: Kind) => void }) {
  return (
    <label className="text-sm text-muted">
      <span className="sr-only">Kind</span>
      <select
        value={kind}
        onChange={(event) => onChange(kindOf(event.target.value))}
        className="rounded-lg border border-line bg-card px-2.5 py-1.5 text-ink"
      >
        {KINDS.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    </label>
  );
}

function Notes({ of, onClose }: { of: string[]; onClose: () => void }) {
  return (
    <div className="rounded-xl bg-warn-soft p-4 text-sm">
      <div className="flex items-start justify-between gap-3">
        <p className="font-medium text-warn">Look at these:</p>
        <Button onClick={onClose}>Close</Button>
      </div>
      <ul className="mt-1 list-disc pl-5">
        {of.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}
