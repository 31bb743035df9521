/** Software stacks by framework: each opens to its packages and its lock, and two can be set side by side. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { Fold } from "../../ui/fold";
import { Badge, Card, Empty, Heading, Trouble, Waiting } from "../../ui/parts";
import { SearchBox } from "../../ui/search-box";
import { Differences } from "./differences";
import { Inside } from "./inside";

const here = getRouteApi("/stacks");
type Stack = Schemas["Stack"];

export function Stacks() {
  const { q, compare } = here.useSearch();
  const navigate = useNavigate({ from: "/stacks" });
  const found = useQuery({
    queryKey: ["stacks", q],
    queryFn: () => answer(api.GET("/api/v1/stacks", { params: { query: { q } } })),
    placeholderData: (before) => before,
  });
  const chosen = (compare ?? "").split(",").filter(Boolean).slice(0, 2);
  const choose = (names: string[]) =>
    void navigate({ search: (before) => ({ ...before, compare: names.join(",") || undefined }), resetScroll: false });
  const toggle = (name: string) =>
    choose(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name].slice(-2));
  return (
    <>
      <Heading
        title="Stacks"
        about="A framework in one version with everything around it, built from nothing wherever it is needed."
      />
      <div className="mb-4 flex flex-wrap items-center gap-4">
        <div className="w-96 max-w-full">
          <SearchBox
            value={q}
            onChange={(words) => void navigate({ search: (before) => ({ ...before, q: words }), replace: true })}
            hint="Search name, framework, Python"
          />
        </div>
        {found.data && (
          <span className="text-sm text-muted" aria-live="polite">
            {plural(found.data.items.length, "stack")}
          </span>
        )}
      </div>
      {chosen.length > 0 && <Differences names={chosen} onClose={() => choose([])} />}
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.data.items.length ? (
        <div className="space-y-6">
          {byFramework(found.data.items).map(([framework, stacks]) => (
            <Card key={framework} title={framework} aside={plural(stacks.length, "stack")}>
              <ul className="divide-y divide-line" aria-label={framework}>
                {stacks.map((stack) => (
                  <Row key={stack.name} stack={stack} isChosen={chosen.includes(stack.name)} onToggle={toggle} />
                ))}
              </ul>
            </Card>
          ))}
        </div>
      ) : (
        <Empty>No matches. Broaden your search.</Empty>
      )}
    </>
  );
}

function byFramework(stacks: readonly Stack[]): [string, Stack[]][] {
  const found = new Map<string, Stack[]>();
  for (const stack of stacks) {
    const name = stack.framework ?? "other";
    found.set(name, [...(found.get(name) ?? []), stack]);
  }
  return [...found].sort(([one], [two]) => Number(one === "other") - Number(two === "other") || one.localeCompare(two));
}

interface Props {
  stack: Stack;
  isChosen: boolean;
  onToggle: (name: string) => void;
}

function Row({ stack, isChosen, onToggle }: Props) {
  const facts = [stack.framework_version, stack.python && `Python ${stack.python}`, stack.kind].filter(Boolean);
  return (
    <li className="py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-sm">
        <span className="font-medium [overflow-wrap:anywhere]">{stack.name}</span>
        <span className="text-muted">{facts.join(" · ")}</span>
        <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1">
          <State built={stack.built} buildable={stack.buildable} />
          {stack.version !== null && (
            <label className="flex items-center gap-1.5 text-muted">
              <input type="checkbox" checked={isChosen} onChange={() => onToggle(stack.name)} />
              Compare<span className="sr-only">{` ${stack.name}`}</span>
            </label>
          )}
          {stack.built.length + stack.buildable.length > 0 && (
            <Link to="/new" search={{ stack: stack.name }} aria-label={`Use it: ${stack.name}`}>
              Use it
            </Link>
          )}
        </span>
      </div>
      {stack.description && <p className="mt-1 max-w-3xl text-xs text-muted">{stack.description}</p>}
      {stack.version !== null && (
        <Fold title="Packages and lock" className="mt-1.5">
          {() => <Inside name={stack.name} />}
        </Fold>
      )}
    </li>
  );
}

function State({ built, buildable }: { built: string[]; buildable: string[] }) {
  if (!built.length && !buildable.length) return <Badge>no agent online can build it</Badge>;
  return (
    <>
      {built.length > 0 && <Badge tone="good">{`built at ${plural(built.length, "agent")}`}</Badge>}
      {buildable.length > 0 && <Badge>{`${plural(buildable.length, "agent")} will build it when needed`}</Badge>}
    </>
  );
}
