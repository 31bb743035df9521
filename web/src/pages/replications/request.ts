/** What is in the form, as the server understands it. */
import type { Schemas } from "../../api/client";

export type Kind = "replicate" | "sensitivity";

export interface Form {
  kind: Kind;
  model: string;
  dataset: string;
  metric: string;
  value: string;
  limit: string;
  within: string;
  budget: string;
  explain: boolean;
}

/** The form that an address asks for: `claim` is `METRIC=75.1` or `METRIC=75.1@dataset`; the server knows the metrics. */
export function formOf(search: { model?: string; dataset?: string; claim?: string; kind?: string }): Form {
  const [, metric = "", value = "", on = ""] = /^([^=]+)=([^@]*)(?:@(.*))?$/.exec(search.claim ?? "") ?? [];
  return {
    kind: search.kind === "sensitivity" ? "sensitivity" : "replicate",
    model: search.model ?? "",
    dataset: search.dataset ?? on,
    metric,
    value,
    limit: "",
    within: "",
    budget: "",
    explain: true,
  };
}

/** What makes the form no question yet, in words. */
export function missing(form: Form): string | null {
  if (!form.model.trim()) return "Name a model.";
  if (form.kind === "replicate" && form.value.trim()) {
    if (!/^[+-]?\d+(\.\d+)?\s*(%|dB)?$/.test(form.value.trim()))
      return "The claimed number is one as published, such as 75.1 for a share in percent.";
    if (!form.metric.trim()) return "Name the metric that was claimed.";
  }
  return null;
}

type Asked = Schemas["ReplicationRequest"] | Schemas["SensitivityRequest"];

export function requestOf(form: Form, trust = false): Asked {
  const number = (text: string) => (text.trim() ? Number(text) : undefined);
  const limit = number(form.limit);
  const about = {
    model: form.model.trim(),
    dataset: form.dataset.trim() || undefined,
    options: limit ? { limit, stratified: true } : {},
    ...(trust ? { trust } : {}),
  };
  if (form.kind === "sensitivity") return { kind: "sensitivity", ...about } as Asked;
  const on = form.dataset.trim();
  const within = number(form.within);
  const said = {
    claim: form.value.trim()
      ? `${form.metric.trim()}=${form.value.trim()}${on ? `@${on.split("@")[0]}` : ""}`
      : undefined,
    within: within === undefined ? undefined : within / 100,
    budget: number(form.budget),
    explain: form.explain,
  };
  const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return { kind: "replicate", ...about, arguments: kept } as Asked;
}
