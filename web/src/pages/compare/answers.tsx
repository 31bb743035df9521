/** How far two records' answers to the same samples lie apart. */
import type { Schemas } from "../../api/client";
import { digits, percent, plural } from "../../lib/format";
import { Fold } from "../../ui/fold";
import { Badge, Card, Fact, Facts } from "../../ui/parts";
import { Table } from "../../ui/table";

const MEASURES = [
  ["kl", "KL, second from first", " nat"],
  ["kl_back", "KL, first from second", " nat"],
  ["js", "Jensen–Shannon", " nat"],
  ["hellinger", "Hellinger", ""],
] as const;

export function Answers({ of, names }: { of: Schemas["AnswersApart"]; names: [string, string] }) {
  const differ = of.apart.filter((each) => !each.same || (each.js ?? 0) > 0);
  const { low, high } = of.agree;
  return (
    <Card title="Do they answer the same?" aside={plural(of.samples, "sample")}>
      <Facts>
        <Fact name="Same answer">
          {percent(of.agree.value, 1)} ({percent(low, 1)} … {percent(high, 1)})
        </Fact>
        <Fact name={`Same ${of.kept} best, in any order`}>{percent(of.same_set.value, 1)}</Fact>
        <Fact name={`Of the ${of.kept} best in both`}>{percent(of.overlap, 1)}</Fact>
        {of.both_right != null && (
          <>
            <Fact name="Both right">{of.both_right}</Fact>
            <Fact name="Only the first right">{of.first_right}</Fact>
            <Fact name="Only the second right">{of.second_right}</Fact>
            <Fact name="Both wrong">{of.both_wrong}</Fact>
          </>
        )}
        {MEASURES.map(([name, title, unit]) => {
          const [mean, most] = [of.means[name], of.most[name]];
          if (mean == null || most == null) return null;
          return (
            <Fact key={name} name={`${title}, on average`}>
              {small(mean)}
              {unit} <span className="text-muted">(at most {small(most)})</span>
            </Fact>
          );
        })}
        {of.infinite > 0 && <Fact name="Infinite KL">{plural(of.infinite, "sample")}</Fact>}
      </Facts>
      {differ.length > 0 && (
        <Fold className="mt-4" open={differ.some((each) => !each.same)} title="The samples that differ most">
          {() => (
            <div className="max-h-96 overflow-y-auto">
              <Table
                name="Samples that differ most"
                rows={differ}
                identity={(row) => row.sample}
                columns={[
                  { title: "Sample", cell: (row) => <code className="text-xs">{row.sample}</code> },
                  { title: "Label", cell: (row) => row.label ?? "–" },
                  { title: names[0], cell: (row) => row.first },
                  { title: names[1], cell: (row) => row.second },
                  {
                    title: "Answer",
                    cell: (row) => <Badge tone={row.same ? "plain" : "warn"}>{row.same ? "same" : "another"}</Badge>,
                  },
                  { title: "JS", right: true, cell: (row) => small(row.js) },
                  { title: "Hellinger", right: true, cell: (row) => small(row.hellinger) },
                ]}
              />
            </div>
          )}
        </Fold>
      )}
      {of.notes.length > 0 && <p className="mt-3 text-xs text-muted">{of.notes.join("; ")}.</p>}
    </Card>
  );
}

/** Divergences are often very small: three digits that count, and no zeros in their place. */
function small(value: number | null): string {
  if (value == null) return "–";
  return value !== 0 && Math.abs(value) < 0.01 ? value.toExponential(1) : digits(value);
}
