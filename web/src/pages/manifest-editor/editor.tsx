import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { Button, Heading, Trouble, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { Begin } from "./begin";
import { diagnosticsOf, LONGEST, mended, useCheck } from "./check";
import type { Handle } from "./code";
import { Differences } from "./differences";
import { type Address, draft } from "./draft";
import { Files } from "./files";
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
  // What saving would refuse is shown among what is wrong: a text without findings can be saved.
  const findings = useMemo(() => [...(checked?.refused ?? []).map(findingOf), ...(checked?.findings ?? [])], [checked]);
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
    setText(said.text); // files that the server knew have other names in it
    draft.forget(address);
  }
  const goTo = (finding: Finding) => {
    const { from, to } = placeOf(text, finding.line, finding.column);
    code.current?.goTo(from, to);
  };
  const files = checked?.files ?? [];
  const obstacle = obstacleOf(checked, text);
  return (
    <>
      <AskBeforeLeaving when={() => text !== kept.current && draft.read(address) !== null} />
      <Heading
        title={address.name ? `Edit ${address.name}` : "New manifest"}
        about="Suggestions appear as you type (Ctrl-Space shows them), and issues are listed below."
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
              Upgrade to current format
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
        {may && <Save text={text} settled={settled} kind={kind} obstacle={obstacle} onText={write} onSaved={saved} />}
        {address.name && kept.current && <Differences before={kept.current} after={text} />}
        <Files
          files={files}
          may={may}
          onSent={({ start, end, reference: path }, reference) =>
            write(
              text === settled
                ? mended(text, [{ start: start!, end: end!, text: spelled(reference) }])
                : text.replace(path, spelled(reference)), // typed on since it was checked
            )
          }
        />
        <section aria-label="Issues" aria-live="polite" className="min-w-0">
          {!text.trim() ? (
            <p className="text-sm text-muted">Write something, paste a manifest, or begin from a model file.</p>
          ) : checked ? (
            <>
              {checked.dialect && (
                <p className="mb-2 text-sm text-warn">{`It is written in an older format (${checked.dialect}); you can upgrade it.`}</p>
              )}
              <Problems findings={findings} goTo={goTo} mend={(each) => write(mended(text, each.fix))} />
              {!findings.length && files.every((file) => file.here) && <p className="text-sm text-good">No issues.</p>}
            </>
          ) : (
            !gone && <p className="text-sm text-muted">Checking …</p>
          )}
        </section>
      </div>
    </>
  );
}

/** What stands in the way of saving it, in words. */
function obstacleOf(checked: Schemas["Checked"] | undefined, text: string): string | null {
  if (!text.trim()) return "There is nothing to save yet.";
  if (checked && checked.problems.length + checked.refused.length) return "Fix the errors below to save it.";
  const missing = checked?.files.filter((file) => !file.here).length ?? 0;
  return missing ? `Upload ${missing === 1 ? "the file" : `the ${missing} files`} below to save it.` : null;
}

function findingOf({ message, line, column, path, hint, known }: Schemas["Fault"]): Finding {
  const place = { file: "", line: line ?? 1, column: column ?? 1, path };
  return { ...place, message, hint: hint ?? null, known: known ?? [], fix: [], code: "server", severity: "error" };
}

/** As YAML takes it. */
const spelled = (reference: string) => (/^[\w:/.+-]+$/.test(reference) ? reference : JSON.stringify(reference));

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
