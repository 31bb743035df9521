/** A picture with shapes over it: truth and answer, as many of them as are to be seen. */
import { useEffect, useRef, useState } from "react";
import { percent } from "../lib/format";
import { type Box, type ClassMap, colour, nameOf, paints, type Shape, scoreOf } from "../lib/shapes";

/** Share of the picture that a box must be wide to have a name on it, where there are many. */
const NAMED = 0.14;
const FEW = 8;
/** Pixels that the longer side of a small picture is shown with: of one of 32 pixels nothing could be seen. */
const SMALL = 256;

export function Overlay({
  address,
  name,
  shapes = [],
  all = shapes,
  size = null,
}: {
  /** None where the picture is not at hand: shapes are drawn on plain ground. */
  address: string | null;
  name: string;
  shapes?: readonly Shape[];
  /** Those that are hidden, too: colours stay what they are. */
  all?: readonly Shape[];
  /** Width and height that places are in; by default the picture's own. */
  size?: readonly number[] | null;
}) {
  const [own, setOwn] = useState<[number, number] | null>(null);
  const [width, height] = size ?? own ?? [0, 0];
  const laid = shapes.filter((each) => each.kind === "mask");
  const drawn = shapes.filter(
    (each) => each.kind === "box" || each.kind === "points" || (each.kind === "mask" && each.box),
  );
  return (
    <div className="relative inline-block max-w-full overflow-hidden rounded-lg border border-line leading-none">
      {address ? (
        <img
          src={address}
          alt={name}
          className="max-h-[32rem] max-w-full"
          style={enlarged(own)}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setOwn([naturalWidth, naturalHeight])}
        />
      ) : (
        <svg viewBox={`0 0 ${width || 4} ${height || 3}`} aria-hidden="true" className="w-[40rem] max-w-full bg-soft" />
      )}
      {shapes.map((each, place) => (each.kind === "classes" ? <Laid key={place} mask={each} /> : null))}
      {laid.map((each, place) => (
        <img
          key={place}
          src={`data:image/png;base64,${each.png}`}
          alt={`${each.side}: ${nameOf(each) || each.kind}`}
          className="absolute inset-0 size-full [image-rendering:pixelated]"
        />
      ))}
      {width! > 0 && drawn.length > 0 && <Drawn shapes={drawn} all={all} width={width!} height={height!} />}
    </div>
  );
}

function enlarged(own: readonly [number, number] | null) {
  const longer = Math.max(...(own ?? [SMALL]));
  return longer < SMALL
    ? { width: Math.round((own![0] * SMALL) / longer), imageRendering: "pixelated" as const }
    : undefined;
}

function Drawn({
  shapes,
  all,
  width,
  height,
}: {
  shapes: readonly Shape[];
  all: readonly Shape[];
  width: number;
  height: number;
}) {
  const paint = paints(all);
  const unit = Math.max(width, height) / 100;
  const said = shapes.map((each) => [each.side === "truth" ? "truth:" : "", called(each)].filter(Boolean).join(" "));
  const ranked = [...shapes].sort((a, b) => (scoreOf(a) ?? 2) - (scoreOf(b) ?? 2));
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${shapes.length} ${shapes.every((each) => each.kind === "box") ? "boxes" : "things"}: ${said.slice(0, 40).join(", ")}`}
      className="absolute inset-0 size-full"
    >
      {ranked.map((each, place) => (
        <g key={place} stroke={paint(each)} strokeDasharray={each.side === "truth" ? "6 4" : undefined}>
          <title>{`${each.side}: ${called(each)}`}</title>
          {each.kind === "box" ? (
            <Rectangle box={each} width={width} height={height} unit={unit} isNamed={shapes.length <= FEW} />
          ) : each.kind === "points" ? (
            <>
              {each.lines?.map(([from, to], line) => (
                <line
                  key={line}
                  x1={each.points[from as number]![0] as number}
                  y1={each.points[from as number]![1] as number}
                  x2={each.points[to as number]![0] as number}
                  y2={each.points[to as number]![1] as number}
                  strokeWidth="2"
                  vectorEffect="non-scaling-stroke"
                />
              ))}
              {each.points.map(([x, y], point) => (
                <circle key={point} cx={x as number} cy={y as number} r={unit} fill={paint(each)} stroke="none" />
              ))}
            </>
          ) : null}
        </g>
      ))}
      {ranked.map((each, place) =>
        boxOf(each) ? (
          <Name
            key={place}
            box={boxOf(each)!}
            width={width}
            height={height}
            unit={unit}
            paint={paint(each)}
            isNamed={shapes.length <= FEW}
          />
        ) : null,
      )}
    </svg>
  );
}

const called = (shape: Shape): string =>
  [nameOf(shape), scoreOf(shape) === null ? "" : percent(scoreOf(shape), 0)].filter(Boolean).join(" ");

/** Where a thing is named, whatever is drawn of it. */
function boxOf(shape: Shape): Box | null {
  if (shape.kind === "box") return shape;
  if ((shape.kind !== "mask" && shape.kind !== "points") || !shape.box) return null;
  const [left, top, right, bottom] = shape.box as [number, number, number, number];
  const { side, score } = shape;
  return { kind: "box", side, left, top, right, bottom, name: nameOf(shape), score, remark: "" };
}

interface Placed {
  box: Box;
  width: number;
  height: number;
  unit: number;
  isNamed: boolean;
}

/** In the picture's own units. */
function sides({ box, width, height }: Placed) {
  const [across, down] = box.relative ? [width, height] : [1, 1];
  const [left, top] = [box.left * across, box.top * down];
  return { left, top, wide: Math.max(0, box.right * across - left), high: Math.max(0, box.bottom * down - top) };
}

function Rectangle(placed: Placed) {
  const { left, top, wide, high } = sides(placed);
  return (
    <rect x={left} y={top} width={wide} height={high} fill="none" strokeWidth="2.5" vectorEffect="non-scaling-stroke" />
  );
}

/** Truth is named at the top and the answer at the bottom: where both are the same box, both can be read. */
function Name({ paint, ...placed }: Placed & { paint: string }) {
  const { box, width, height, unit, isNamed } = placed;
  const { left, top, wide, high } = sides(placed);
  const words = called(box);
  if (!words || (!isNamed && wide < NAMED * width)) return null;
  const isRight = left > 0.7 * width; // or it would be cut off
  const down = box.side === "truth" ? top + 4 * unit : top + high - 1.2 * unit;
  return (
    <text
      x={isRight ? Math.min(width, left + wide) - unit : Math.max(0, left) + unit}
      textAnchor={isRight ? "end" : undefined}
      y={Math.min(Math.max(down, 4 * unit), height - 0.6 * unit)}
      fontSize={2.9 * unit}
      fontWeight="600"
      fill={paint}
      stroke="#000"
      strokeWidth={0.6 * unit}
      strokeLinejoin="round"
      paintOrder="stroke"
    >
      {words}
    </text>
  );
}

function Laid({ mask }: { mask: ClassMap }) {
  const place = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = place.current?.getContext("2d");
    if (!canvas) return;
    const picture = canvas.createImageData(mask.width, mask.height);
    mask.classes.forEach((number, at) => {
      if (!number) return;
      const paint = Number.parseInt(colour(number - 1).slice(1), 16);
      picture.data.set([paint >> 16, (paint >> 8) & 255, paint & 255, 150], 4 * at);
    });
    canvas.putImageData(picture, 0, 0);
  }, [mask]);
  const found = [...new Set(mask.classes)].filter(Boolean);
  return (
    <canvas
      ref={place}
      width={mask.width}
      height={mask.height}
      role="img"
      aria-label={`A mask with ${found.length} classes`}
      className="absolute inset-0 size-full [image-rendering:pixelated]"
    />
  );
}
