/** Where several models answer one input differently: their first answers, class by class. */
import { skipToken, useQueries } from "@tanstack/react-query";
import { type Schemas } from "../../../api/client";
import { Badge, Card } from "../../../ui/parts";
import { Table } from "../../../ui/table";
import type { Chosen } from "./ask";
import { type Answered, compared } from "./compared";
import type { Given } from "./given";

/** What has been answered by now; nothing is asked for it. */
export function Differences({ chosen, given }: { chosen: readonly Chosen[]; given: Given | null }) {
  const seen = useQueries({
    queries: chosen.flatMap((each) =>
      [false, true].map((trust) => ({
        queryKey: ["prediction", each, given?.id, trust],
        queryFn: skipToken,
        gcTime: 0,
      })),
    ),
  });
  const answered = chosen.flatMap((each, place): Answered[] => {
    const data = (seen[2 * place]?.data ?? seen[2 * place + 1]?.data) as Schemas["Prediction"] | undefined;
    return data
      ? [{ name: `${place + 1}. ${each.model}`, names: data.names, scores: data.scores, answer: data.answer }]
      : [];
  });
  if (given === null || answered.length < 2) return null;
  const { agree, first, rows } = compared(answered);
  return (
    <Card
      title="Differences"
      aside={
        <Badge tone={agree ? "good" : "warn"}>{agree ? "the same first answer" : "different first answers"}</Badge>
      }
    >
      <p className="mb-3 text-sm" role="status">
        {agree ? `All ${answered.length} answer ${first[0]}.` : `${new Set(first).size} different first answers.`}
      </p>
      {rows.length > 0 && (
        <Table
          name="Answers side by side"
          rows={rows}
          identity={(row) => row.name}
          columns={[
            { title: "Answer", cell: (row) => <bdi>{row.name}</bdi> },
            ...answered.map((each, place) => ({
              title: each.name,
              right: true,
              cell: (row: (typeof rows)[number]) => {
                const { score, rank } = row.told[place]!;
                if (rank === null) return <span className="text-muted">–</span>;
                const words = `${score} (${rank + 1}.)`;
                return row.differs ? <mark className="rounded bg-warn-soft px-1 text-warn">{words}</mark> : words;
              },
            })),
          ]}
        />
      )}
    </Card>
  );
}
