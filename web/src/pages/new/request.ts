/** What is in the form, as the server understands it. */
import type { Schemas } from "../../api/client";

export interface Form {
  model: string;
  dataset: string;
  kind: string;
  scenario: string;
  level: string;
  limit: string;
  batchSize: string;
  framework: string;
  frameworkVersion: string;
  stack: string;
  architecture: string;
  processor: string;
  cores: string;
  memory: string;
  accelerator: string;
  interconnect: string;
  agents: string;
}

export const EMPTY: Form = {
  model: "",
  dataset: "",
  kind: "evaluate",
  scenario: "single-stream",
  level: "framework",
  limit: "",
  batchSize: "",
  framework: "",
  frameworkVersion: "",
  stack: "",
  architecture: "",
  processor: "",
  cores: "",
  memory: "",
  accelerator: "",
  interconnect: "",
  agents: "one",
};

export function requestOf(form: Form): Schemas["Request"] {
  const number = (text: string) => (text.trim() ? Number(text) : undefined);
  const hardware = said({
    cpu: said({ arch: form.architecture, name: form.processor, cores: form.cores && `>=${form.cores}` }),
    memory: form.memory && `>=${form.memory} GiB`,
    gpu: said({ name: form.accelerator, interconnect: form.interconnect }),
  });
  return said({
    kind: form.kind,
    model: form.model,
    dataset: form.dataset,
    options: said({ limit: number(form.limit), batch_size: number(form.batchSize) }) ?? {},
    arguments:
      form.kind === "bench" ? { scenario: form.scenario } : form.kind === "profile" ? { level: form.level } : {},
    where:
      said({
        hardware,
        framework: form.framework ? { name: form.framework, version: form.frameworkVersion || "*" } : undefined,
        stack: form.stack,
      }) ?? {},
    agents: form.agents,
  }) as Schemas["Request"];
}

/** Without what was not said; nothing where nothing was. */
function said<Part extends Record<string, unknown>>(part: Part): Partial<Part> | undefined {
  const kept = Object.entries(part).filter(([, value]) => value !== undefined && value !== "");
  return kept.length ? (Object.fromEntries(kept) as Partial<Part>) : undefined;
}
