/** What is in the form, as the server understands it. */
import type { Schemas } from "../../api/client";

export const FIELDS = [
  "model",
  "dataset",
  "kind",
  "scenario",
  "level",
  "limit",
  "batchSize",
  "framework",
  "frameworkVersion",
  "stack",
  "architecture",
  "vendor",
  "processor",
  "cores",
  "flags",
  "memory",
  "accelerator",
  "acceleratorMemory",
  "interconnect",
  "labels",
  "agent",
  "agents",
  "shards",
  "priority",
  "timeout",
] as const;

export type Form = { [field in (typeof FIELDS)[number]]?: string };

export function requestOf(form: Form, trust = false): Schemas["Request"] {
  const kind = form.kind ?? "evaluate";
  const hardware = said({
    cpu: said({
      arch: form.architecture,
      vendor: form.vendor,
      model: form.processor,
      ncpu: atLeast(form.cores),
      flags: words(form.flags),
    }),
    memory: atLeast(form.memory, " GiB"),
    gpu: said({ model: form.accelerator, memory: atLeast(form.acceleratorMemory, " GiB") }),
    interconnect: form.interconnect,
  });
  const where = said({
    hardware,
    framework: form.framework ? { name: form.framework, version: form.frameworkVersion ?? "*" } : undefined,
    stack: form.stack,
    agent: form.agent,
    labels: labels(form.labels),
  });
  return said({
    kind,
    model: form.model ?? "",
    dataset: form.dataset,
    options: said({ limit: number(form.limit), batch_size: number(form.batchSize) }),
    arguments:
      kind === "bench"
        ? { scenario: form.scenario ?? "single-stream" }
        : kind === "profile"
          ? { level: form.level ?? "framework" }
          : undefined,
    where,
    trust: trust || undefined,
    agents: form.agents,
    shards: number(form.shards),
    priority: number(form.priority),
    timeout_s: number(form.timeout),
  }) as unknown as Schemas["Request"];
}

const number = (text?: string) => (text?.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined);
const atLeast = (text?: string, unit = "") => (text?.trim() ? `>=${text.trim()}${unit}` : undefined);

function words(text?: string): string[] | undefined {
  const found = text?.split(/[\s,]+/).filter(Boolean);
  return found?.length ? found : undefined;
}

/** `room=3, rack=b`. */
function labels(text?: string): Record<string, string> | undefined {
  const pairs = (text ?? "").split(",").map((pair) => pair.split("="));
  const found = pairs.filter(([name, value]) => name?.trim() && value?.trim());
  return found.length ? Object.fromEntries(found.map(([name, value]) => [name!.trim(), value!.trim()])) : undefined;
}

/** Without what was not said; nothing where nothing was. */
function said<Part extends Record<string, unknown>>(part: Part): Partial<Part> | undefined {
  const kept = Object.entries(part).filter(([, value]) => value !== undefined && value !== "");
  return kept.length ? (Object.fromEntries(kept) as Partial<Part>) : undefined;
}
