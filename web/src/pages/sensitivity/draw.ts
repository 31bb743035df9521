import { plural } from "../../lib/format";
import { cut, fitsIn, svg } from "../../lib/svg";
import {
  type Better,
  type Cell,
  type Cost,
  change,
  counted,
  gain,
  headline,
  layout,
  rowsOf,
  spread,
  strength,
  twoLines,
} from "./heat";

/** How changes are written, and which of them are for the better. */
export interface Told {
  unit: string;
  better: Better;
}

/** The whole map as one drawing, in the colours of the page. */
export function drawHeat(costs: readonly Cost[], width: number, name: string, told: Told): SVGSVGElement {
  const rows = rowsOf(costs, told.better);
  const { height, heads, cells } = layout(rows, width);
  const largest = Math.max(...costs.map((each) => Math.abs(each.difference)), 0);
  const narrow = width < 640;
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, "font-family": "inherit" },
    ...heads.map(({ row, y }) =>
      svg(
        "text",
        { x: 0, y: y + (narrow ? 15 : 20), "font-size": 12.5, "font-weight": 550, fill: "var(--ink)" },
        svg("title", {}, row.title),
        cut(row.title, narrow ? width : 190, 12.5),
      ),
    ),
    ...cells.map((cell) => draw(cell, strength(gain(cell.cost.difference, told.better), largest), told.unit)),
  ) as SVGSVGElement;
}

function draw({ cost, x, y, width, height }: Cell, strong: number, unit: string): SVGElement {
  const fill = strong < 0 ? "var(--bad)" : "var(--good)";
  const middle = x + width / 2;
  const fits = fitsIn(width - 10, 11);
  const label = { x: middle, "text-anchor": "middle", fill: "var(--ink)" };
  return svg(
    "g",
    {},
    svg("title", {}, describe(cost, unit)),
    svg("rect", { x, y, width, height, rx: 4, fill: "var(--soft)" }),
    // Never so strong that the ink on it could not be read, in either theme.
    svg("rect", { x, y, width, height, rx: 4, fill, "fill-opacity": (0.45 * Math.abs(strong)).toFixed(3) }),
    svg("text", { ...label, y: y + 20, "font-size": cost.idle ? 13 : 15, "font-weight": 600 }, headline(cost, unit)),
    svg("text", { ...label, y: y + 35, "font-size": 10.5 }, cut(spread(cost, unit), width - 10, 10.5)),
    ...twoLines(cost.words, fits).map((line, at) =>
      svg("text", { ...label, y: y + 53 + 14 * at, "font-size": 11 }, line),
    ),
  );
}

export function describe(cost: Cost, unit: string): string {
  const [value, low, high] = [cost.difference, cost.difference_low, cost.difference_high].map((at) => change(at, unit));
  const said = `${value} ${counted(unit)}`.trim();
  return `${cost.title}: ${cost.words}\n${said} (${low} to ${high}), ${plural(cost.flips, "answer")} changed`;
}
