/** A chart that fits its place, and can be taken along: as a picture, or as the numbers behind it. */
import { useEffect, useRef, useState } from "react";
import { Button } from "./parts";

interface Props<Row extends object> {
  name: string;
  data: readonly Row[];
  draw: (width: number) => SVGSVGElement | HTMLElement;
}

export function Chart<Row extends object>({ name, data, draw }: Props<Row>) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    if (place.current) watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (!width || !place.current) return;
    const drawn = draw(width);
    nameIt(drawn, name);
    place.current.replaceChildren(drawn);
    return () => drawn.remove();
  }, [width, draw, name]);
  return (
    <figure>
      <div ref={place} className="min-h-40 w-full overflow-hidden" />
      <figcaption className="mt-2 flex gap-2">
        <Button onClick={() => save(`${name}.svg`, "image/svg+xml", picture(place.current))}>SVG</Button>
        <Button onClick={() => void savePng(`${name}.png`, place.current)}>PNG</Button>
        <Button onClick={() => save(`${name}.csv`, "text/csv", table(data))}>CSV</Button>
      </figcaption>
    </figure>
  );
}

/** To a screen reader it is one picture; Plot names every group of marks, which no group may have. */
function nameIt(drawn: Element, name: string): void {
  const svg = drawn instanceof SVGSVGElement ? drawn : drawn.querySelector(":scope > svg");
  svg?.setAttribute("role", "img");
  if (!svg?.hasAttribute("aria-label")) svg?.setAttribute("aria-label", `Chart: ${name}`);
  for (const part of svg?.querySelectorAll("[aria-label], [aria-description]") ?? []) {
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
}

/** The drawing alone, with the colours that it has on this page. */
function picture(place: HTMLElement | null): string {
  const svg = place?.querySelector("svg");
  if (!svg) return "";
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const style = getComputedStyle(document.documentElement);
  return new XMLSerializer()
    .serializeToString(copy)
    .replace(/var\((--[a-z-]+)\)/g, (_, variable: string) => style.getPropertyValue(variable).trim() || "currentColor");
}

async function savePng(name: string, place: HTMLElement | null): Promise<void> {
  const text = picture(place);
  const svg = place?.querySelector("svg");
  if (!text || !svg) return;
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) download(name, blob);
}

function table<Row extends object>(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[];
  const cell = (value: unknown): string => {
    const text = value == null ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (
    [names.map(String).join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\n") +
    "\n"
  );
}

function save(name: string, type: string, text: string): void {
  if (text) download(name, new Blob([text], { type }));
}

function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
