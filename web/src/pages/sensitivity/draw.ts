import { cut, fitsIn, svg } from "../../lib/svg";
import { type Cell, type Cost, layout, points, rowsOf, strength, twoLines } from "./heat";

/** The whole map as one drawing, in the colours of the page. */
export function drawHeat(costs: readonly Cost[], width: number, name: string): SVGSVGElement {
  const rows = rowsOf(costs);
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
    ...cells.map((cell) => draw(cell, strength(cell.cost.difference, largest))),
  ) as SVGSVGElement;
}

function draw({ cost, x, y, width, height }: Cell, strong: number): SVGElement {
  const fill = strong < 0 ? "var(--bad)" : "var(--good)";
  const middle = x + width / 2;
  const fits = fitsIn(width - 10, 11);
  const label = { x: middle, "text-anchor": "middle", fill: "var(--ink)" };
  return svg(
    "g",
    {},
    svg("title", {}, describe(cost)),
    svg("rect", { x, y, width, height, rx: 4, fill: "var(--soft)" }),
    // Never so strong that the ink on it could not be read, in either theme.
    svg("rect", { x, y, width, height, rx: 4, fill, "fill-opacity": (0.45 * Math.abs(strong)).toFixed(3) }),
    svg(
      "text",
      { ...label, y: y + 20, "font-size": 15, "font-weight": 600 },
      cost.idle ? "no change" : points(cost.difference),
    ),
    ...twoLines(cost.words, fits).map((line, at) =>
      svg("text", { ...label, y: y + 38 + 14 * at, "font-size": 11 }, line),
    ),
  );
}

export function describe(cost: Cost): string {
  const change = `${points(cost.difference)} points (${points(cost.difference_low)} to ${points(cost.difference_high)})`;
  return `${cost.title}: ${cost.words}\n${change}, ${cost.flips} answers flip`;
}
