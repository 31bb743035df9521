/** One layer: what it takes and gives, its weights, and how it is set. */
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client";
import { bytes, plural } from "../../lib/format";
import { inMillions } from "../../lib/takes";
import { Card } from "../../ui/parts";
import { spelledShape } from "./visible";

export function LayerFacts({ layer, number }: { layer: Schemas["NetworkLayer"]; number: number }) {
  return (
    <Card title={layer.kind ?? "Weights"} aside={`layer ${number}`} className="lg:sticky lg:top-4">
      <p className="mb-3 text-sm text-muted [overflow-wrap:anywhere]">{layer.name}</p>
      <Rows
        title="In numbers"
        rows={[
          ["parameters", layer.parameters?.toLocaleString("en") ?? "unknown"],
          ["weights", bytes(layer.weight_bytes)],
          ["operations of one call", layer.flops == null ? "unknown" : inMillions(layer.flops)],
        ]}
      />
      <Rows title="Takes" rows={layer.inputs.map((each) => [each.tensor, spelledShape(each.shape) || "unknown"])} />
      <Rows title="Gives" rows={layer.outputs.map((each) => [each.tensor, spelledShape(each.shape) || "unknown"])} />
      <Rows
        title="Weights"
        rows={layer.weights.map((each) => [each.name, `${spelledShape(each.shape)} ${each.element_type}`])}
      />
      <Rows title="Attributes" rows={layer.attributes.map((each) => [each.name, each.value])} />
      {layer.more > 0 && <p className="mt-3 text-xs text-muted">{`and ${plural(layer.more, "more line")}`}</p>}
    </Card>
  );
}

function Rows({ title, rows }: { title: string; rows: [string, ReactNode][] }) {
  if (!rows.length) return null;
  return (
    <div className="mt-4 text-sm">
      <h3 className="text-xs font-normal text-muted">{title}</h3>
      <dl className="mt-1 space-y-1">
        {rows.map(([name, value], place) => (
          <div key={place} className="flex flex-wrap justify-between gap-x-3 [overflow-wrap:anywhere]">
            <dt>{name}</dt>
            <dd className="text-muted">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
