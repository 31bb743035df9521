/** What a model is made of: its layers as a graph that can be unfolded, or as a list. Nothing of its file has run. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { bytes, plural } from "../../lib/format";
import { inMillions } from "../../lib/takes";
import { Button, Card, Fact, Facts, Heading, Trouble, Waiting } from "../../ui/parts";
import { Graph } from "./graph";
import { LayerFacts } from "./layer";
import { LayerList } from "./list";
import { type Node, visibleOf } from "./visible";

const here = getRouteApi("/models/$name/layers");
/** Nodes that are drawn; above that there is the list. */
const MOST_DRAWN = 400;
/** A network that is so small is unfolded from the beginning. */
const FEW = 30;

export function LayersPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const found = useQuery({
    queryKey: ["network", name, version],
    queryFn: () => answer(api.GET("/api/v1/models/{name}/network", { params: { path: { name }, query: { version } } })),
    retry: false,
    staleTime: Infinity,
  });
  return (
    <>
      <Heading
        title={
          <>
            <Link to="/models/$name" params={{ name }} search={{ version }} className="text-ink">
              {name}
            </Link>{" "}
            <span className="font-normal text-muted">layers</span>
          </>
        }
        about={found.data && `${found.data.version}, read from its ${found.data.format} file; nothing of it was run.`}
      />
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : !found.data ? (
        <Waiting what="Reading the model's file" />
      ) : (
        <Layers network={found.data} />
      )}
    </>
  );
}

function Layers({ network }: { network: Schemas["ModelNetwork"] }) {
  const look = here.useSearch();
  const navigate = useNavigate({ from: "/models/$name/layers" });
  const wanted = Number(look.layer);
  const chosen = look.layer !== undefined && network.layers[wanted] ? wanted : null;
  const [open, setOpen] = useState<ReadonlySet<number>>(() => firstOpen(network, chosen));
  const visible = useMemo(() => visibleOf(network, open), [network, open]);
  const everything = network.layers.length + network.inputs.length <= MOST_DRAWN;
  const fits = visible.nodes.length <= MOST_DRAWN;
  const hasEdges = network.layers.some((layer) => layer.inputs.length > 0);
  const asList = look.view === "list" || !fits || !hasEdges;
  const show = (change: { view?: string; layer?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const press = (node: Node) =>
    node.kind === "block" ? setOpen(new Set([...open, node.number])) : show({ layer: String(node.number) });
  const fold = (block: number) => setOpen(new Set([...open].filter((each) => each !== block)));
  return (
    <div className="space-y-6">
      <Card title="In numbers">
        <Facts>
          <Fact name="Parameters">{network.parameters == null ? "unknown" : inMillions(network.parameters)}</Fact>
          <Fact name="Weights">{bytes(network.weight_bytes)}</Fact>
          <Fact name="Operations of one call">{network.flops == null ? "unknown" : inMillions(network.flops)}</Fact>
          <Fact name="Layers">{(network.layers.length + network.more_layers).toLocaleString("en")}</Fact>
        </Facts>
        {network.more_layers > 0 && (
          <p className="mt-3 text-sm text-muted">{`The first ${network.layers.length.toLocaleString("en")} are shown.`}</p>
        )}
        {network.notes.map((note) => (
          <p key={note} className="mt-2 text-xs text-muted [overflow-wrap:anywhere]">
            {note}
          </p>
        ))}
      </Card>
      <div className="flex flex-wrap items-center gap-2" role="toolbar" aria-label="View">
        <Button aria-pressed={!asList} disabled={!fits || !hasEdges} onClick={() => show({ view: undefined })}>
          Graph
        </Button>
        <Button aria-pressed={asList} onClick={() => show({ view: "list" })}>
          List
        </Button>
        {!asList && network.blocks.length > 0 && (
          <>
            <Button disabled={!everything} onClick={() => setOpen(new Set(network.blocks.keys()))}>
              Open all
            </Button>
            <Button disabled={!open.size} onClick={() => setOpen(new Set())}>
              Fold all
            </Button>
          </>
        )}
      </div>
      {!asList && open.size > 0 && open.size < network.blocks.length && (
        <ul className="flex flex-wrap gap-1.5 text-xs" aria-label="Open blocks">
          {[...open].map((block) => (
            <li key={block}>
              <Button className="!px-2 !py-0.5 text-xs" onClick={() => fold(block)}>
                {`Fold ${network.blocks[block]!.name}`}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className={chosen === null ? "" : "grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]"}>
        <div className="min-w-0">
          {asList ? (
            <LayerList layers={network.layers} chosen={chosen} onChoose={(layer) => show({ layer: String(layer) })} />
          ) : (
            <Graph visible={visible} chosen={chosen === null ? null : `layer ${chosen}`} onPress={press} />
          )}
          {!hasEdges && <p className="mt-2 text-sm text-muted">A file of weights tells no order and no connections.</p>}
          {!fits && (
            <p className="mt-2 text-sm text-muted">{`${plural(visible.nodes.length, "node")} are too many to draw.`}</p>
          )}
        </div>
        {chosen !== null && <LayerFacts layer={network.layers[chosen]!} number={chosen} />}
      </div>
    </div>
  );
}

/** Which blocks are open at first: all of a small network, else the one of the layer that a link names. */
function firstOpen(network: Schemas["ModelNetwork"], chosen: number | null): ReadonlySet<number> {
  if (network.layers.length <= FEW) return new Set(network.blocks.keys());
  const block = chosen === null ? null : network.layers[chosen]!.block;
  return new Set(block == null ? [] : [block]);
}
