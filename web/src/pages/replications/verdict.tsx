/** What was claimed, what was measured, and what that means. */
import { useCallback } from "react";
import type { Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { apartIn, difference, published, spelled, unitOf, written } from "../../lib/measured";
import { svg } from "../../lib/svg";
import { Chart } from "../../ui/chart";
import { Card, Fact, Facts, Verdict } from "../../ui/parts";

export function VerdictCard({ finding }: { finding: Schemas["Finding"] }) {
  const { unit } = finding.claim;
  const claimed = Number(finding.claim.value) / unitOf(unit).factor;
  const { measured, accepted } = finding;
  const [first, ...rest] = finding.said ?? [];
  const draw = useCallback(
    (width: number) => numberLine(width, { claimed, measured, accepted, unit }),
    [claimed, measured, accepted, unit],
  );
  // Half of the last digit is one digit more than was published.
  const places = (finding.claim.value.split(".")[1] ?? "").length + 1;
  const more = (value: number) => (unitOf(unit).factor * value).toFixed(places);
  const numbers = [
    { what: "claimed", value: claimed, low: accepted.low, high: accepted.high },
    { what: "measured", value: measured.value, low: measured.low, high: measured.high },
  ];
  return (
    <Card title="The verdict" aside={<Verdict of={finding.verdict} />}>
      <p className="max-w-3xl text-lg">{sentence(first ?? "", finding.verdict)}</p>
      {rest.map((line) => (
        <p key={line} className="mt-2 max-w-3xl text-muted">
          <Line text={line} />
        </p>
      ))}
      <div className="mt-5">
        <Chart name={`verdict-${finding.record}`} data={numbers} draw={draw} />
      </div>
      <div className="mt-5">
        <Facts>
          <Fact name="Claimed">
            {published(finding.claim.value, unit)} {finding.claim.metric}
          </Fact>
          <Fact name="Measured">{spelled(measured.value, unit)}</Fact>
          <Fact name="Gap">{`${difference(measured.value - claimed, unit, 2)} ${apartIn(unit)}`.trim()}</Fact>
          <Fact name="95 % interval">
            {measured.high - measured.low < 1e-9
              ? "none: these are all samples"
              : `${written(measured.low, unit)} to ${spelled(measured.high, unit)}`}
          </Fact>
          <Fact name="Would still be as claimed">
            {more(accepted.low)} to {more(accepted.high)} {unitOf(unit).symbol}
          </Fact>
          <Fact name="Samples">
            {plural(finding.samples, "sample")}
            {finding.population ? ` of ${finding.population.toLocaleString("en")}` : ""}
          </Fact>
          {finding.needed != null && <Fact name="Would decide it">{plural(finding.needed, "sample")}</Fact>}
          {finding.evaluations != null && (
            <Fact name="The search took">{`${finding.evaluations.toFixed(1)} evaluations`}</Fact>
          )}
          {finding.claim.source && <Fact name="Published">{finding.claim.source}</Fact>}
        </Facts>
      </div>
    </Card>
  );
}

const KINDS = ["reproduced", "better than claimed", "not reproduced", "undecided", "not checked"];

/** A sentence; one about a further claim begins with the verdict on it. */
function Line({ text }: { text: string }) {
  const kind = KINDS.find((each) => text.startsWith(`${each}: `));
  if (!kind) return text;
  return (
    <>
      <Verdict of={kind} /> {sentence(text, kind)}
    </>
  );
}

function sentence(line: string, verdict: string): string {
  const said = line.replace(`${verdict}: `, "");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

interface Numbers {
  unit: string;
  claimed: number;
  measured: Schemas["Measured"];
  accepted: Schemas["Range"];
}

/** One axis: a band for what would still be as claimed, a dot with its interval for what was measured. */
function numberLine(width: number, { claimed, measured, accepted, unit }: Numbers): SVGSVGElement {
  const ends = [claimed, measured.low, measured.high, accepted.low, accepted.high];
  const room = Math.max(0.1 * (Math.max(...ends) - Math.min(...ends)), 0.005);
  const { factor, symbol } = unitOf(unit);
  const [low, high] = [Math.min(...ends) - room, Math.max(...ends) + room];
  const x = (value: number) => 8 + ((value - low) / (high - low)) * (width - 16);
  const text = (at: number, y: number, said: string, fill: string) =>
    svg("text", { x: x(at), y, fill, "font-size": 13, "text-anchor": anchor((at - low) / (high - low)) }, said);
  const band = { x: x(accepted.low), width: Math.max(2, x(accepted.high) - x(accepted.low)) };
  const title = `claimed ${spelled(claimed, unit)}, measured ${spelled(measured.value, unit)}`;
  const ticks = ticksOf(low, high, Math.max(4, Math.floor(width / 110))).filter(
    (at) => x(at) > 24 && x(at) < width - 24,
  );
  const whisker = { y1: 66, y2: 66, stroke: "var(--ink)", "stroke-width": 3, "stroke-linecap": "round" };
  return svg(
    "svg",
    { width, height: 160, viewBox: `0 0 ${width} 160`, role: "img", "aria-label": title },
    ...ticks.map((at) => svg("line", { x1: x(at), x2: x(at), y1: 34, y2: 128, stroke: "var(--line)" })),
    ...ticks.map((at) =>
      svg(
        "text",
        { x: x(at), y: 148, fill: "var(--muted)", "font-size": 12, "text-anchor": "middle" },
        `${Number((factor * at).toFixed(4))} ${symbol}`.trim(),
      ),
    ),
    svg("rect", { ...band, y: 34, height: 94, fill: "var(--accent-soft)" }),
    svg("line", { x1: x(claimed), x2: x(claimed), y1: 30, y2: 128, stroke: "var(--accent)", "stroke-width": 2 }),
    text(claimed, 20, `claimed ${spelled(claimed, unit)}`, "var(--accent)"),
    svg("line", { x1: x(measured.low), x2: x(measured.high), ...whisker }),
    svg("circle", { cx: x(measured.value), cy: 66, r: 7, fill: "var(--ink)" }),
    text(measured.value, 94, `measured ${spelled(measured.value, unit)}`, "var(--ink)"),
  ) as SVGSVGElement;
}

/** Round numbers between two others, about so many. */
function ticksOf(low: number, high: number, most: number): number[] {
  const rough = (high - low) / most;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((each) => each * size >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => (first + at) * step);
}

const anchor = (share: number) => (share < 0.15 ? "start" : share > 0.85 ? "end" : "middle");
