/** A flame graph as an SVG picture whose boxes can be clicked. */
import type { Schemas } from "../../api/client";
import { percent, time } from "../../lib/format";
import { lettersIn } from "../../lib/svg";
import { boxes } from "./flame-layout";

const HIGH = 20;
const NARROWEST = 1.5;
export const LEVEL_COLOURS: Record<string, string> = {
  none: "var(--muted)",
  application: "var(--series-h)",
  model: "var(--series-a)",
  framework: "var(--series-f)",
  library: "var(--series-b)",
  hardware: "var(--series-c)",
};

export function drawFlames(
  nodes: Schemas["FlameNode"][],
  chosen: number,
  width: number,
  choose: (place: number) => void,
): SVGSVGElement {
  const found = boxes(nodes, chosen, NARROWEST / width);
  const deep = Math.max(...found.map((box) => box.depth)) + 1;
  const picture = shape("svg", { width, height: deep * HIGH, viewBox: `0 0 ${width} ${deep * HIGH}` });
  picture.setAttribute("font-family", "system-ui, sans-serif");
  picture.setAttribute("font-size", "11");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", "Flame graph; the table below has the same times");
  const whole = nodes[0]?.total_ns || 1;
  for (const { place, node, depth, left, wide } of found) {
    const group = shape("g", { transform: `translate(${left * width} ${depth * HIGH})`, style: "cursor: pointer" });
    group.dataset.node = node.name;
    const title = shape("title", {});
    title.textContent = `${node.name}: ${time(node.total_ns)} (${percent(node.total_ns / whole, 1)}), ${node.count} times`;
    const box = shape("rect", {
      ...{ width: Math.max(wide * width - 1, 0.5), height: HIGH - 2, rx: 2 },
      ...{ fill: LEVEL_COLOURS[node.level] ?? "var(--muted)", "fill-opacity": 0.82 + 0.09 * (place % 3) },
    });
    group.append(title, box);
    const letters = lettersIn(wide * width - 8, 11);
    if (letters >= 3) {
      const text = shape("text", { x: 4, y: HIGH / 2 + 3, fill: "var(--card)" });
      text.textContent = node.name.length > letters ? `${node.name.slice(0, letters - 1)}…` : node.name;
      group.append(text);
    }
    group.addEventListener("click", () => choose(place));
    picture.append(group);
  }
  return picture as SVGSVGElement;
}

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const found = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, String(value));
  return found;
}
