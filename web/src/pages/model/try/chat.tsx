/** A chat with a language model: its answer as it is written, until somebody stops it. Nothing is recorded. */
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Problem, type Schemas } from "../../../api/client";
import { visible } from "../../../lib/tokens";
import { ContextText } from "../../../shown/prompt";
import { Fold } from "../../../ui/fold";
import { Button, Trouble } from "../../../ui/parts";
import { askEvents, type Chosen, wordsOf } from "./ask";
import { promptOf } from "./prompt";

interface Said {
  role: "user" | "assistant";
  content: string;
  /** What there is to know of an answer: that it was cut off, or stopped. */
  note?: string;
}

interface Settings {
  longest: number;
  temperature: number;
  seed: number;
  system: string;
}

const USUAL: Settings = { longest: 256, temperature: 0, seed: 0, system: "" };

export function Chat({ chosen, trust, template }: { chosen: Chosen; trust: boolean; template: boolean }) {
  const [said, setSaid] = useState<Said[]>([]);
  const [typed, setTyped] = useState("");
  const [settings, setSettings] = useState(USUAL);
  const [state, setState] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [prompt, setPrompt] = useState<Schemas["PromptContext"] | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!typed.trim() || running.current) return;
    const before: Said[] = [...said, { role: "user", content: typed }];
    const control = new AbortController();
    running.current = control;
    let text = "";
    const show = (note?: string) => setSaid([...before, { role: "assistant", content: text, note }]);
    setSaid(before);
    setTyped("");
    setError(null);
    setState("Asking");
    try {
      for await (const event of askEvents(chosen, bodyOf(before, settings), trust, control.signal)) {
        if (event.kind === "piece") {
          text += String(event.text);
          setState("Writing");
          show();
        } else if (event.kind === "answer") {
          const answer = JSON.parse(String(event.answer)) as { text: string; ending?: string };
          text = answer.text;
          show(answer.ending === "length" ? "cut off: it reached the largest number of tokens" : undefined);
          setPrompt(promptOf(event.prompt));
        } else setState(wordsOf(event));
      }
    } catch (problem) {
      if (control.signal.aborted) show("stopped");
      else {
        if (text) show("broken off");
        else {
          setSaid(said);
          setTyped(typed);
        }
        setError(problem instanceof Problem ? problem : new Problem(0, "Unknown", String(problem)));
      }
    } finally {
      running.current = null;
      setState(null);
    }
  };

  return (
    <div className="space-y-4">
      {!template && (
        <p className="text-xs text-muted">
          This model has no chat template: it continues your text, and every turn is joined to the one before.
        </p>
      )}
      <ol aria-label="Conversation" className="space-y-3 empty:hidden">
        {said.map((each, place) => (
          <li key={place} className={each.role === "user" ? "ml-8" : "mr-8"}>
            <p className="mb-1 text-xs text-muted">{each.role === "user" ? "You" : chosen.model}</p>
            <p
              dir="auto"
              className={`rounded-lg p-3 whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext] ${each.role === "user" ? "bg-accent-soft" : "bg-paper"}`}
            >
              {visible(each.content).replaceAll("⏎\n", "\n") || "…"}
            </p>
            {each.note && <p className="mt-1 text-xs text-muted">{each.note}</p>}
          </li>
        ))}
      </ol>
      <p aria-live="polite" className="text-xs text-muted empty:hidden">
        {state}
      </p>
      {error != null && <Trouble error={error as Error} />}
      <form onSubmit={(event) => void send(event)} className="space-y-3">
        <textarea
          aria-label="Your message"
          placeholder={template ? "Ask something" : "Once upon a time"}
          rows={3}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          className="w-full rounded-lg border border-line bg-paper px-3 py-2"
        />
        <div className="flex flex-wrap items-end gap-3">
          <Numeral
            title="Longest (tokens)"
            value={settings.longest}
            min={1}
            max={1_000_000}
            step={1}
            onChange={(longest) => setSettings({ ...settings, longest })}
          />
          <Numeral
            title="Temperature"
            value={settings.temperature}
            min={0}
            max={100}
            step={0.1}
            onChange={(temperature) => setSettings({ ...settings, temperature })}
          />
          <Numeral
            title="Seed"
            value={settings.seed}
            min={0}
            max={Number.MAX_SAFE_INTEGER}
            step={1}
            onChange={(seed) => setSettings({ ...settings, seed })}
          />
          <span className="ml-auto flex gap-2">
            {said.length > 0 && !state && (
              <Button
                type="button"
                onClick={() => {
                  setSaid([]);
                  setPrompt(null);
                  setError(null);
                }}
              >
                New chat
              </Button>
            )}
            {state ? (
              <Button type="button" onClick={() => running.current?.abort()}>
                Stop
              </Button>
            ) : (
              <Button type="submit" disabled={!typed.trim()}>
                Send
              </Button>
            )}
          </span>
        </div>
        {template && (
          <label className="block text-sm">
            <span className="mb-1 block text-xs text-muted">What the system says</span>
            <textarea
              rows={1}
              value={settings.system}
              onChange={({ target }) => setSettings({ ...settings, system: target.value })}
              className="w-full rounded-lg border border-line bg-paper px-3 py-1.5"
            />
          </label>
        )}
      </form>
      {prompt && <Fold title="What the model was shown">{() => <ContextText context={prompt} />}</Fold>}
    </div>
  );
}

function bodyOf(said: readonly Said[], { system, ...write }: Settings) {
  const turns: Schemas["ChatTurn"][] = said
    .filter(({ content }) => content)
    .map(({ role, content }) => ({ role, content }));
  if (system.trim()) turns.unshift({ role: "system", content: system });
  return { input: { turns }, write, timeout_s: 600 };
}

function Numeral({
  title,
  value,
  onChange,
  ...range
}: {
  title: string;
  value: number;
  min: number;
  max: number;
  step: number;
  onChange: (value: number) => void;
}) {
  return (
    <label className="text-sm">
      <span className="mb-1 block text-xs text-muted">{title}</span>
      <input
        type="number"
        required
        {...range}
        value={Number.isFinite(value) ? value : ""}
        onChange={({ target }) => onChange(target.valueAsNumber)}
        className="w-28 rounded-lg border border-line bg-paper px-2 py-1"
      />
    </label>
  );
}
