/** A picture with what was found in it: boxes drawn over it, or a mask laid over it. */
import { useEffect, useRef, useState } from "react";
import { percent } from "../lib/format";
import type { Box, Mask, Shape } from "../lib/shapes";

/** Told apart in light and in dark, and by most who see colours differently. */
export const COLOURS = ["#e4572e", "#17bebb", "#ffc914", "#7b5ea7", "#2e86ab", "#a5be00", "#f15bb5", "#8d6a4f"];
export const colour = (place: number): string => COLOURS[place % COLOURS.length]!;

export function Overlay({ address, name, shape }: { address: string; name: string; shape?: Shape }) {
  const [size, setSize] = useState<[number, number] | null>(null);
  const boxes = shape?.kind === "boxes" ? shape.boxes : [];
  return (
    <div className="relative inline-block max-w-full overflow-hidden rounded-lg border border-line leading-none">
      <img
        src={address}
        alt={name}
        className="max-h-96 max-w-full"
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setSize([naturalWidth, naturalHeight])}
      />
      {shape?.kind === "mask" && <Laid mask={shape.mask} />}
      {size && boxes.length > 0 && <Drawn boxes={boxes} width={size[0]} height={size[1]} />}
    </div>
  );
}

function Drawn({ boxes, width, height }: { boxes: readonly Box[]; width: number; height: number }) {
  const names = [...new Set(boxes.map((box) => box.name))];
  const said = boxes.map((box) => `${box.name} ${percent(box.score, 0)}`).join(", ");
  const unit = Math.max(width, height) / 100;
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${boxes.length} boxes: ${said}`}
      className="absolute inset-0 size-full"
    >
      {boxes.map((box, place) => {
        const [across, down] = box.relative ? [width, height] : [1, 1];
        const left = box.left * across;
        const top = box.top * down;
        const paint = colour(names.indexOf(box.name));
        const words = [box.name, box.score == null ? "" : percent(box.score, 0)].filter(Boolean).join(" ");
        return (
          <g key={place}>
            <rect
              x={left}
              y={top}
              width={Math.max(0, box.right * across - left)}
              height={Math.max(0, box.bottom * down - top)}
              fill="none"
              stroke={paint}
              strokeWidth={0.8 * unit}
            />
            {words && (
              <text
                x={left + unit}
                y={Math.max(top + 4.6 * unit, 4.6 * unit)}
                fontSize={4 * unit}
                fontWeight="600"
                fill={paint}
                stroke="#000"
                strokeWidth={0.7 * unit}
                paintOrder="stroke"
              >
                {words}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function Laid({ mask }: { mask: Mask }) {
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
