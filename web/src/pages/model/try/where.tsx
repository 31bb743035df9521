/** With which software and on which machine: what fits the model, or whatever does. */
import { useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../../api/client";
import type { Chosen } from "./ask";

const LOOKS = "max-w-full min-w-0 flex-1 rounded-lg border border-line bg-paper px-2 py-1 text-xs";

export function Where({
  chosen,
  framework,
  onChange,
}: {
  chosen: Chosen;
  framework: string | null | undefined;
  onChange: (chosen: Chosen) => void;
}) {
  const stacks = useQuery({ queryKey: ["stacks"], queryFn: () => answer(api.GET("/api/v1/stacks")) });
  const machines = useQuery({ queryKey: ["machines"], queryFn: () => answer(api.GET("/api/v1/machines")) });
  const fitting = fittingStacks(stacks.data?.items ?? [], framework);
  return (
    <div className="flex flex-wrap gap-2">
      <select
        aria-label={`Stack for ${chosen.model}`}
        value={chosen.stack ?? ""}
        onChange={(event) => onChange({ ...chosen, stack: event.target.value || undefined })}
        className={LOOKS}
      >
        <option value="">any stack that fits</option>
        {fitting.map((stack) => (
          <option key={stack.name} value={stack.name}>
            {stack.name}
            {stack.built.length ? "" : " (is built first)"}
          </option>
        ))}
      </select>
      <select
        aria-label={`Machine for ${chosen.model}`}
        value={chosen.agent ?? ""}
        onChange={(event) => onChange({ ...chosen, agent: event.target.value || undefined })}
        className={LOOKS}
      >
        <option value="">any machine</option>
        {machines.data?.items.map((machine) => (
          <option
            key={machine.agent}
            value={machine.agent}
          >{`${machine.agent}, ${machine.gpus[0] ?? machine.cpu}`}</option>
        ))}
      </select>
    </div>
  );
}

/** Those of the model's framework that some agent has or can build, and the Python that agents run in. */
function fittingStacks(stacks: readonly Schemas["Stack"][], framework: string | null | undefined): Schemas["Stack"][] {
  return stacks
    .filter((stack) => stack.built.length + stack.buildable.length > 0)
    .filter((stack) => stack.name === "current" || !framework || stack.framework === framework)
    .sort((a, b) => Number(b.built.length > 0) - Number(a.built.length > 0) || a.name.localeCompare(b.name));
}
