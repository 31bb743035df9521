/** Rankings of queries as a record's details have them, which may be a stranger's. */
export interface RankedDocument {
  id: string;
  rank: number;
  similarity: number | null;
  /** Above 0 where it is relevant. */
  gain: number;
}

export interface RankedQuery {
  id: string;
  ndcg: number;
  best: RankedDocument[];
  /** Relevant ones that are not among the best. */
  missed: RankedDocument[];
  relevant: number;
}

type Said = Record<string, unknown>;
const MOST = 24;
const list = (value: unknown): Said[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

export function rankedQueries(details: Readonly<Said>): { queries: RankedQuery[]; documents: number } {
  const queries = list(details.queries)
    .filter((each) => list(each.best).length > 0)
    .slice(0, MOST);
  return { queries: queries.map(queryOf), documents: number(details.documents) };
}

function queryOf(said: Said): RankedQuery {
  return {
    id: String(said.id),
    ndcg: number(said.ndcg10),
    best: list(said.best)
      .slice(0, 10)
      .map((each, place) => documentOf(each, place + 1)),
    missed: list(said.missed)
      .slice(0, 5)
      .map((each) => documentOf(each, number(each.rank))),
    relevant: number(said.relevant),
  };
}

function documentOf(said: Said, rank: number): RankedDocument {
  const similarity = typeof said.similarity === "number" ? said.similarity : null;
  return { id: String(said.id), rank, similarity, gain: number(said.gain) };
}
