/** What does it say of this? A file, an address or a text, and what the answer took its time for. */
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, useEffect, useId, useState } from "react";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { percent, time } from "../../lib/format";
import { Badge, Button, Card, Trouble } from "../../ui/parts";
import { useMay } from "../../ui/shell";

const LARGEST = 16 * 1024 * 1024;
type Given = { file: File } | { url: string } | { text: string };

export function TryIt({ model, version }: { model: string; version: string }) {
  const may = useMay("run");
  const [given, setGiven] = useState<Given | null>(null);
  const asked = useMutation({ mutationFn: (what: Given) => predict(`${model}@${version}`, what) });
  if (!may) return null;
  function ask(what: Given) {
    setGiven(what);
    asked.mutate(what);
  }
  return (
    <Card title="Try it" aside="Nothing is recorded.">
      <div className="grid gap-5 md:grid-cols-2">
        <div className="space-y-3">
          <Drop onFile={(file) => ask({ file })} />
          <Words onGiven={ask} />
        </div>
        <div aria-live="polite" className="min-h-24">
          {given && "file" in given && <Preview file={given.file} />}
          {asked.isPending ? (
            <p className="text-muted">Asking … the first answer of a model takes longest.</p>
          ) : asked.error ? (
            <Trouble error={asked.error} again={given ? () => asked.mutate(given) : undefined} />
          ) : asked.data ? (
            <Answer of={asked.data} />
          ) : (
            <p className="text-sm text-muted">Drop a picture, or give its address.</p>
          )}
        </div>
      </div>
    </Card>
  );
}

async function predict(model: string, given: Given): Promise<Schemas["Prediction"]> {
  let input: Schemas["Input"];
  if ("file" in given) {
    if (given.file.size > LARGEST)
      throw new Problem(
        413,
        "TooLarge",
        `${given.file.name} has ${(given.file.size / 1048576).toFixed(0)} MiB.`,
        "16 MiB are the most.",
      );
    input = { base64: await base64(given.file) };
  } else input = given;
  const said = await answer(
    api.POST("/api/v1/predictions", { body: { model, input } as Schemas["PredictionRequest"] }),
  );
  return said as Schemas["Prediction"]; // and no stream of events, which must be asked for
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Problem(0, "Unreadable", `${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

function Drop({ onFile }: { onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const name = useId();
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
      className={`block cursor-pointer rounded-xl border-2 border-dashed p-8 text-center text-sm ${over ? "border-accent bg-accent-soft" : "border-line"}`}
    >
      Drop a picture here, or <span className="text-accent underline">choose a file</span>
      <input
        id={name}
        type="file"
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

function Words({ onGiven }: { onGiven: (given: Given) => void }) {
  const [words, setWords] = useState("");
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        const said = words.trim();
        if (said) onGiven(/^https?:\/\//.test(said) ? { url: said } : { text: said });
      }}
    >
      <input
        aria-label="Address or text"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        placeholder="https://… or a text"
        className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5 text-sm"
      />
      <Button type="submit" disabled={!words.trim()}>
        Ask
      </Button>
    </form>
  );
}

/** Only pictures that a browser draws by itself; anything that could carry a script is not shown. */
const SHOWN = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp"];
function Preview({ file }: { file: File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!SHOWN.includes(file.type)) return setUrl(null);
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url ? (
    <img src={url} alt={file.name} className="mb-3 max-h-44 rounded-lg border border-line" />
  ) : (
    <p className="mb-3 text-sm text-muted">{file.name}</p>
  );
}

function Answer({ of }: { of: Schemas["Prediction"] }) {
  const total = of.stages?.reduce((sum, stage) => sum + stage.duration_ns, 0) ?? 0;
  const probabilities = of.scores?.every((score) => score >= 0 && score <= 1);
  const best = Math.max(...(of.scores ?? [0]), 1e-9);
  return (
    <div className="space-y-4">
      {of.answer ? (
        <pre className="overflow-x-auto rounded-lg bg-paper p-3 text-xs">{of.answer}</pre>
      ) : (
        <ol className="space-y-1.5 text-sm" aria-label="Answers">
          {of.names?.map((name, place) => (
            <li key={place} className="grid grid-cols-[4.5rem_1fr] items-center gap-2">
              <span className="text-right">
                {probabilities ? percent(of.scores?.[place], 1) : of.scores?.[place]?.toFixed(3)}
              </span>
              <span className="relative overflow-hidden rounded px-2 py-0.5">
                <span
                  className="absolute inset-y-0 left-0 bg-accent-mid/60"
                  style={{ width: `${(100 * Math.max(0, of.scores?.[place] ?? 0)) / best}%` }}
                />
                <span className="relative">{name}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
      <div>
        <div
          className="flex h-3 overflow-hidden rounded-full bg-soft"
          role="img"
          aria-label={of.stages?.map((stage) => `${stage.name} ${time(stage.duration_ns)}`).join(", ")}
        >
          {of.stages?.map((stage, place) => (
            <span
              key={place}
              title={`${stage.name} ${time(stage.duration_ns)}`}
              className={place % 2 ? "bg-accent-mid" : "bg-accent"}
              style={{ width: `${(100 * stage.duration_ns) / (total || 1)}%` }}
            />
          ))}
        </div>
        <p className="mt-1.5 text-xs text-muted">
          {of.stages?.map((stage) => `${stage.name} ${time(stage.duration_ns)}`).join(" · ")}
        </p>
      </div>
      <p className="flex flex-wrap gap-1.5">
        <Badge>{of.agent}</Badge>
        <Badge>{of.stack}</Badge>
        <Badge tone={of.warm ? "good" : "warn"}>{of.warm ? "was open" : `opened in ${time(of.load_ns)}`}</Badge>
      </p>
    </div>
  );
}
