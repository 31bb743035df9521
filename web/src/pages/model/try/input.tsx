/** What shall it look at? A file dropped, chosen or pasted, an address, a text, or a sample that the server has. */
import { type DragEvent, useEffect, useId, useRef, useState } from "react";
import { bytes } from "../../../lib/format";
import { Button, Trouble } from "../../../ui/parts";
import { checked, fresh, type Given, type Wants } from "./given";
import { useLimits } from "./manifest";
import { Pick } from "./pick";

const USUAL = 16 * 1024 * 1024;

export function GiveInput({
  wants,
  model,
  manifest,
  onGiven,
}: {
  wants: Wants;
  model: string;
  manifest?: Record<string, unknown>;
  onGiven: (given: Given) => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const [picking, setPicking] = useState(false);
  const largest = useLimits()?.largest_input ?? USUAL;
  const give = (given: Given) => {
    setError(null);
    onGiven(given);
  };
  const take = (blob: Blob, name: string) => {
    checked(blob, name, wants, largest).then(give, setError);
  };
  usePasted(take);
  return (
    <div className="space-y-3">
      {wants !== "text" && <Drop wants={wants} largest={largest} onFile={(file) => take(file, file.name)} />}
      {error !== null && <Trouble error={error} />}
      <Words wants={wants} onGiven={give} />
      {wants !== "text" && wants !== "audio" && (
        <>
          <Button aria-expanded={picking} onClick={() => setPicking(!picking)}>
            {picking ? "Hide the samples" : "Take a sample"}
          </Button>
          {picking && <Pick model={model} manifest={manifest} onPicked={take} onTrouble={setError} />}
        </>
      )}
    </div>
  );
}

/** A picture that was copied is pasted anywhere on the page; text goes where the cursor is. */
function usePasted(take: (blob: Blob, name: string) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const file = [...(event.clipboardData?.files ?? [])][0];
      if (!file) return;
      event.preventDefault();
      latest.current(file, file.name || "what was pasted");
    };
    window.addEventListener("paste", paste);
    return () => window.removeEventListener("paste", paste);
  }, []);
}

function Drop({ wants, largest, onFile }: { wants: Wants; largest: number; onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const name = useId();
  const what = wants === "audio" ? "a recording" : wants === "image" ? "a picture" : "a file";
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  }
  return (
    <label
      htmlFor={name}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={`block cursor-pointer rounded-xl border-2 border-dashed p-8 text-center text-sm focus-within:border-accent ${over ? "border-accent bg-accent-soft" : "border-line hover:border-accent-mid"}`}
    >
      {`Drop ${what} here, paste one, or `}
      <span className="text-accent underline">choose a file</span>
      <span className="mt-1 block text-xs text-muted">{`up to ${bytes(largest)}; nothing is recorded`}</span>
      <input
        id={name}
        type="file"
        accept={wants === "audio" ? "audio/*" : wants === "image" ? "image/*" : undefined}
        className="sr-only"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
          event.target.value = "";
        }}
      />
    </label>
  );
}

function Words({ wants, onGiven }: { wants: Wants; onGiven: (given: Given) => void }) {
  const [words, setWords] = useState("");
  const isText = wants === "text";
  const label = isText ? "Text" : wants === "anything" ? "Address or text" : "Address";
  const hint = isText ? "Type a text" : wants === "anything" ? "https://… or a text" : "https://… of a file";
  const said = words.trim();
  const isAddress = /^https?:\/\/\S+$/.test(said);
  const isWrong = said !== "" && !isAddress && wants !== "text" && wants !== "anything";
  const note = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!said || isWrong) return;
        const id = fresh();
        onGiven(isAddress && !isText ? { kind: "url", id, url: said } : { kind: "text", id, text: said });
      }}
    >
      <div className="flex items-start gap-2">
        {isText ? (
          <textarea
            aria-label={label}
            rows={4}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            placeholder={hint}
            className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5 text-sm"
          />
        ) : (
          <input
            aria-label={label}
            aria-describedby={isWrong ? note : undefined}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            placeholder={hint}
            className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5 text-sm"
          />
        )}
        <Button type="submit" disabled={!said || isWrong}>
          Run
        </Button>
      </div>
      {isWrong && (
        <p id={note} className="mt-1 text-xs text-muted">
          An address begins with https:// or http://.
        </p>
      )}
    </form>
  );
}
