/** Models side by side in an address: `a,b~stack,a~stack~agent`. */
import type { Chosen } from "./ask";

const MOST = 8;

export function readChosen(text: string | undefined): Chosen[] {
  return (text ?? "")
    .split(",")
    .map((each) => {
      const [name = "", stack, agent] = each.trim().split("~");
      const [model = "", version] = name.split("@");
      return { model, version: version || undefined, stack: stack || undefined, agent: agent || undefined };
    })
    .filter((each) => each.model)
    .slice(0, MOST);
}

export function writeChosen(chosen: readonly Chosen[]): string {
  return chosen
    .map(({ model, version, stack, agent }) => {
      const name = version ? `${model}@${version}` : model;
      return agent ? `${name}~${stack ?? ""}~${agent}` : stack ? `${name}~${stack}` : name;
    })
    .join(",");
}
