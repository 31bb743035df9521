/** The small parts that every page is made of. */
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useRef } from "react";
import { Problem } from "../api/client";
import { setWords } from "../lib/tab-title";

type Tone = "plain" | "accent" | "good" | "bad" | "warn";
const TONES: Record<Tone, string> = {
  plain: "bg-soft text-muted",
  accent: "bg-accent-soft text-accent",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
};

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center rounded-full px-2.5 py-0.5 text-xs font-medium ${TONES[tone]}`}>
      {children}
    </span>
  );
}

const STATES: Record<string, Tone> = {
  finished: "good",
  online: "good",
  running: "accent",
  waiting: "plain",
  draining: "warn",
  failed: "bad",
  gone: "bad",
  cancelled: "plain",
};
export function State({ of }: { of: string }) {
  return <Badge tone={STATES[of] ?? "plain"}>{of}</Badge>;
}

export function Card({
  title,
  aside,
  children,
  className = "",
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`rounded-xl border border-line bg-card p-5 ${className}`}>
      {title && (
        <header className="mb-3 flex flex-wrap items-baseline justify-between gap-3">
          <h2 className="text-base">{title}</h2>
          {aside && <div className="text-sm text-muted">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

const SHAPE =
  "inline-block rounded-lg px-3.5 py-1.5 text-sm font-medium hover:no-underline disabled:opacity-50 aria-disabled:opacity-50";
/** How buttons look, and links that are as good as buttons. */
export const LOOKS = {
  plain: `${SHAPE} border border-line bg-card text-ink hover:bg-soft`,
  main: `${SHAPE} bg-accent text-accent-ink hover:opacity-90`,
  danger: `${SHAPE} border border-line bg-card text-bad hover:bg-bad-soft`,
};

export function Button({
  kind = "plain",
  className = "",
  ...more
}: ButtonHTMLAttributes<HTMLButtonElement> & { kind?: keyof typeof LOOKS }) {
  return <button type="button" className={`${LOOKS[kind]} ${className}`} {...more} />;
}

/** What a page is about: also the name of its tab, in the history and among bookmarks. */
export function Heading({ title, about, actions }: { title: ReactNode; about?: ReactNode; actions?: ReactNode }) {
  const words = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setWords(words.current!.textContent.trim());
  }); // whenever it is drawn: a title may come with what is loaded
  useEffect(() => () => setWords(""), []);
  return (
    <div className="mb-6 flex flex-wrap items-end justify-between gap-4">
      <div className="min-w-0">
        <h1 ref={words} className="text-3xl tracking-tight [overflow-wrap:anywhere]">
          {title}
        </h1>
        {about && <p className="mt-1.5 max-w-2xl text-muted">{about}</p>}
      </div>
      {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}

/** Why something is not there, and what can be done about it. */
/** Answers that stay the same however often one asks. */
const LASTING = [400, 403, 404, 405, 410, 413, 422];

export function Trouble({ error, again }: { error: unknown; again?: () => void }) {
  const problem =
    error instanceof Problem
      ? error
      : new Problem(0, "Surprise", error instanceof Error ? error.message : String(error));
  return (
    <div role="alert" className="rounded-xl border border-line bg-bad-soft p-5">
      <p className="font-medium text-bad whitespace-pre-line">{problem.message}</p>
      {problem.hint && <p className="mt-1 text-sm text-ink">{problem.hint}</p>}
      {again && !LASTING.includes(problem.status) && (
        <Button className="mt-3" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="rounded-xl border border-dashed border-line p-8 text-center text-muted">{children}</p>;
}

export function Waiting({ what = "Loading" }: { what?: string }) {
  return (
    <p role="status" className="p-8 text-center text-muted">
      {what} …
    </p>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-2 gap-x-6 gap-y-3 text-sm sm:grid-cols-3 lg:grid-cols-4">{children}</dl>;
}

export function Figure({ name, value, beside }: { name: string; value: ReactNode; beside?: ReactNode }) {
  return (
    <div className="rounded-xl border border-line bg-card p-5">
      <h3 className="text-sm font-medium text-muted">{name}</h3>
      <p className="mt-1.5 text-3xl font-semibold tracking-tight">{value}</p>
      {beside && <p className="mt-1 text-sm text-muted">{beside}</p>}
    </div>
  );
}

export function Bar({ share, label }: { share: number; label: string }) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="h-2 w-full overflow-hidden rounded-full bg-soft"
    >
      <div className="h-full rounded-full bg-accent transition-[width]" style={{ width }} />
    </div>
  );
}

const VERDICTS: Record<string, Tone> = {
  reproduced: "good",
  "better than claimed": "warn",
  "not reproduced": "bad",
  undecided: "warn",
};
export function Verdict({ of }: { of: string }) {
  return <Badge tone={VERDICTS[of] ?? "plain"}>{of}</Badge>;
}
