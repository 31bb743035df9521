/** A flame graph: what lies in what, added up over the whole trace. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { percent, time } from "../../lib/format";
import { Chart } from "../../ui/chart";
import { Button, Card, Trouble, Waiting } from "../../ui/parts";
import { Legend } from "../../ui/chart-card";
import { Table } from "../../ui/table";
import { LEVELS, levelName } from "./bands";
import { firstNode, pathTo, within } from "./flame-layout";
import { drawFlames, LEVEL_COLOURS } from "./flame-drawing";

export default function Flames({ trace }: { trace: string }) {
  const found = useQuery({
    queryKey: ["flames", trace],
    queryFn: () =>
      answer(
        api.GET("/api/v1/traces/{identity}/flames", { params: { path: { identity: trace }, query: { least: 1e-5 } } }),
      ),
    staleTime: 60_000,
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  return <Shown nodes={found.data.nodes} leftOut={found.data.left_out} />;
}

function Shown({ nodes, leftOut }: { nodes: Schemas["FlameNode"][]; leftOut: number }) {
  const [chosen, setChosen] = useState(() => firstNode(nodes));
  const draw = useCallback((width: number) => drawFlames(nodes, chosen, width, setChosen), [nodes, chosen]);
  const known = LEVELS.filter((level) => nodes.some((node) => node.level === level));
  return (
    <div className="space-y-6">
      <Card title="Flame graph" aside={leftOut ? `${leftOut.toLocaleString("en")} too small to be seen` : ""}>
        <nav aria-label="Where one is" className="mb-3 flex flex-wrap items-center gap-1 text-sm">
          {pathTo(nodes, chosen).map((place, depth, path) => (
            <span key={place}>
              {depth < path.length - 1 ? (
                <>
                  <button type="button" className="text-accent hover:underline" onClick={() => setChosen(place)}>
                    {nodes[place]!.name}
                  </button>{" "}
                  ›
                </>
              ) : (
                <span className="font-medium">
                  {nodes[place]!.name}, {time(nodes[place]!.total_ns)}
                </span>
              )}
            </span>
          ))}
        </nav>
        <Legend domain={known.map(levelName)} range={known.map((level) => LEVEL_COLOURS[level]!)} />
        <Chart name="flame-graph" data={nodes} draw={draw} />
      </Card>
      <Own nodes={nodes} chosen={chosen} onChoose={setChosen} />
    </div>
  );
}

/** Those in which most time is spent that none below them explains. */
function Own({
  nodes,
  chosen,
  onChoose,
}: {
  nodes: Schemas["FlameNode"][];
  chosen: number;
  onChoose: (place: number) => void;
}) {
  const whole = nodes[chosen]?.total_ns || 1;
  const inside = within(nodes, chosen);
  const rows = nodes
    .map((node, place) => ({ ...node, place }))
    .filter(({ place }) => place > 0 && inside.has(place))
    .sort((one, two) => two.own_ns - one.own_ns)
    .slice(0, 30);
  return (
    <Card title="Self time">
      <Table
        name="Self time"
        rows={rows}
        identity={(row) => String(row.place)}
        columns={[
          { title: "Name", cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.name}</span> },
          { title: "Level", cell: (row) => levelName(row.level) },
          { title: "Calls", right: true, cell: (row) => row.count.toLocaleString("en") },
          { title: "Self time", right: true, cell: (row) => time(row.own_ns) },
          { title: "Total", right: true, cell: (row) => time(row.total_ns) },
          { title: "Share", right: true, cell: (row) => percent(row.own_ns / whole, 1) },
          {
            title: "",
            right: true,
            cell: (row) => (
              <Button className="!px-2 !py-0.5 !text-xs" onClick={() => onChoose(row.place)}>
                Show
              </Button>
            ),
          },
        ]}
      />
    </Card>
  );
}
