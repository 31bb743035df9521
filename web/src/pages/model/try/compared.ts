/** Answers of several models, class by class; a class that does not have the same rank everywhere differs. */
export interface Answered {
  name: string;
  names: readonly string[];
  scores: readonly number[];
  /** Of what has no classes: the answer as JSON. */
  answer?: string | null;
}

export interface Told {
  rank: number | null;
  score: string;
}

export interface Row {
  name: string;
  told: Told[];
  differs: boolean;
}

const MOST = 3;

export function compared(answered: readonly Answered[]): { agree: boolean; first: string[]; rows: Row[] } {
  const first = answered.map((each) => each.names[0] ?? each.answer ?? "nothing");
  const agree = new Set(first).size < 2;
  if (answered.some((each) => !each.names.length)) {
    // A list of boxes is no sentence: only that they are the same can be said.
    return { agree, first: agree ? ["the same"] : first, rows: [] };
  }
  const names = [...new Set(answered.flatMap((each) => each.names.slice(0, MOST)))];
  const rows = names.map((name) => {
    const told = answered.map(({ names: own, scores }): Told => {
      const rank = own.indexOf(name);
      return rank < 0 ? { rank: null, score: "" } : { rank, score: spelled(scores[rank] ?? 0, scores) };
    });
    return { name, told, differs: new Set(told.map((each) => each.rank)).size > 1 };
  });
  return { agree, first, rows };
}

function spelled(score: number, all: readonly number[]): string {
  const isShare = all.every((each) => each >= 0 && each <= 1);
  return isShare ? `${(100 * score).toFixed(1)} %` : score.toFixed(3);
}
