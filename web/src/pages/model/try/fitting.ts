/** Datasets whose samples a model is likely to understand. */

const named = (value: unknown): string[] => (typeof value === "string" && value ? [value.split("@")[0]!] : []);
const family = (name: string): string => name.split("-")[0]!;

/** Of the datasets there are, those that fit, the surest first: what the manifest names and claims something about,
 * what the model was measured on before, then relatives of those (`imagenet-70` of `imagenet-val`). */
export function fitting(
  manifest: Record<string, unknown> | undefined,
  measured: readonly string[],
  names: readonly string[],
): string[] {
  const claims = Array.isArray(manifest?.claims) ? (manifest.claims as { dataset?: unknown }[]) : [];
  const sure = [...named(manifest?.dataset), ...claims.flatMap((claim) => named(claim.dataset)), ...measured];
  const families = new Set(sure.map(family));
  return [
    ...new Set([...sure.filter((name) => names.includes(name)), ...names.filter((name) => families.has(family(name)))]),
  ];
}
