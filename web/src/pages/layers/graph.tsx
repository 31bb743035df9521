/** A network drawn from above to below: blocks and layers, with shapes on the edges. Only what is in sight is made. */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { layout } from "./layout";
import type { Node, Visible } from "./visible";

const ROW = 88;
const HEIGHT = 44;
const WIDTH = 168;
const MARGIN = 24;
const AROUND = 400;

interface Props {
  visible: Visible;
  chosen: string | null;
  onPress: (node: Node) => void;
}

export function Graph({ visible, chosen, onPress }: Props) {
  const { nodes, edges } = visible;
  const places = useMemo(() => layout(nodes.length, edges), [nodes, edges]);
  const frame = useRef<HTMLDivElement>(null);
  const [[top, bottom], setSight] = useState<[number, number]>([0, 1200]);
  useEffect(() => {
    const element = frame.current!;
    const look = () => setSight([element.scrollTop - AROUND, element.scrollTop + element.clientHeight + AROUND]);
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    const element = frame.current!; // a wide graph begins with its middle
    element.scrollLeft = (element.scrollWidth - element.clientWidth) / 2;
  }, [places.width]);
  const yOf = (rank: number) => MARGIN + rank * ROW;
  const isSeen = (from: number, to: number) => yOf(to) + ROW >= top && yOf(from) <= bottom;
  const width = places.width + 2 * MARGIN;
  const height = yOf(places.ranks - 1) + HEIGHT + MARGIN;
  return (
    <div
      ref={frame}
      tabIndex={0}
      role="region"
      aria-label="Graph of the layers"
      className="max-h-[75vh] overflow-auto rounded-lg border border-line bg-paper"
    >
      <svg width={width} height={height} className="mx-auto block" role="group" aria-label="Layers">
        {edges.map((edge, place) => {
          const from = places.rank[edge.from]!;
          const to = places.rank[edge.to]!;
          if (!isSeen(from, to)) return null;
          const points: [number, number][] = [
            [places.x[edge.from]! + MARGIN, yOf(from) + HEIGHT],
            ...places.bends[place]!.map(({ x, rank }): [number, number] => [x + MARGIN, yOf(rank) + HEIGHT / 2]),
            [places.x[edge.to]! + MARGIN, yOf(to)],
          ];
          return (
            <g key={`${edge.from} ${edge.to}`} aria-hidden="true">
              <path d={curve(points)} fill="none" stroke="var(--muted)" strokeOpacity="0.6" strokeWidth="1.2" />
              {!places.bends[place]!.length && (
                <text
                  x={(points[0]![0] + points[1]![0]) / 2 + 6}
                  y={(points[0]![1] + points[1]![1]) / 2 + 3}
                  fontSize="10"
                  fill="var(--muted)"
                >
                  {edge.shape}
                </text>
              )}
            </g>
          );
        })}
        {nodes.map((node, place) => {
          const rank = places.rank[place]!;
          if (!isSeen(rank, rank)) return null;
          return (
            <Box
              key={node.id}
              node={node}
              x={places.x[place]! + MARGIN - WIDTH / 2}
              y={yOf(rank)}
              isChosen={node.id === chosen}
              onPress={onPress}
            />
          );
        })}
      </svg>
    </div>
  );
}

/** A line from above to below that is upright at both ends of each of its pieces. */
function curve(points: readonly [number, number][]): string {
  const [first, ...rest] = points;
  let path = `M${first![0].toFixed(1)} ${first![1].toFixed(1)}`;
  let [x, y] = first!;
  for (const [nextX, nextY] of rest) {
    const middle = (y + nextY) / 2;
    path += `C${x.toFixed(1)} ${middle} ${nextX.toFixed(1)} ${middle} ${nextX.toFixed(1)} ${nextY.toFixed(1)}`;
    [x, y] = [nextX, nextY];
  }
  return path;
}

const FILLS = { input: "var(--soft)", layer: "var(--card)", block: "var(--accent-soft)" };
const WORDS = { input: "Input", layer: "Layer", block: "Open block" };

function Box({
  node,
  x,
  y,
  isChosen,
  onPress,
}: {
  node: Node;
  x: number;
  y: number;
  isChosen: boolean;
  onPress: (node: Node) => void;
}) {
  const isInput = node.kind === "input";
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onPress(node);
  };
  const acts = isInput
    ? { role: "img" as const }
    : {
        role: "button" as const,
        tabIndex: 0,
        onClick: () => onPress(node),
        onKeyDown: press,
        "aria-pressed": isChosen,
      };
  return (
    <g transform={`translate(${x} ${y})`} className={isInput ? "" : "cursor-pointer"} {...acts}>
      <title>{`${WORDS[node.kind]} ${node.title}, ${node.about}`}</title>
      <rect
        width={WIDTH}
        height={HEIGHT}
        rx={isInput ? HEIGHT / 2 : 8}
        fill={FILLS[node.kind]}
        stroke={isChosen ? "var(--accent)" : "var(--line)"}
        strokeWidth={isChosen ? 2.5 : 1.2}
      />
      <text x={WIDTH / 2} y={18} textAnchor="middle" fontSize="12" fontWeight="600" fill="var(--ink)">
        {cut(node.title, 20)}
      </text>
      <text x={WIDTH / 2} y={34} textAnchor="middle" fontSize="10" fill="var(--muted)">
        {cut(node.about, 26)}
      </text>
    </g>
  );
}

/** The end of a long name tells more than its beginning. */
const cut = (text: string, most: number): string => (text.length > most ? `…${text.slice(1 - most)}` : text);
