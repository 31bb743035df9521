/** The best answers with their scores, as bars. */
import { percent } from "../lib/format";

export interface Guess {
  name: string;
  score: number | null | undefined;
  right?: boolean;
}

export function Bars({ guesses }: { guesses: readonly Guess[] }) {
  const scores = guesses.map((guess) => guess.score ?? 0);
  const probabilities = scores.every((score) => score >= 0 && score <= 1);
  const best = Math.max(...scores, 1e-9);
  return (
    <ol className="space-y-1.5 text-sm" aria-label="Answers">
      {guesses.map((guess, place) => (
        <li key={place} className="grid grid-cols-[4rem_1fr] items-center gap-2">
          <span className="text-right tabular-nums">
            {guess.score == null ? "–" : probabilities ? percent(guess.score, 1) : guess.score.toFixed(3)}
          </span>
          <span className="relative overflow-hidden rounded bg-soft px-2 py-1">
            <span
              className={`absolute inset-y-0 left-0 ${guess.right ? "bg-good-soft" : "bg-accent-soft"}`}
              style={{ width: `${(100 * Math.max(0, guess.score ?? 0)) / (probabilities ? 1 : best)}%` }}
            />
            <span className={`relative ${guess.right ? "font-medium" : ""}`}>
              {guess.name}
              {guess.right && <span className="text-good"> ✓</span>}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}
