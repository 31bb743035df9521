/** In what two stacks differ: framework, Python, and packages. */
import type { Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { type Difference, differencesOf, packagesOf } from "../../lib/requirements";
import { useManifest } from "../../shown/use-manifest";
import { Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { stackOf } from "./inside";

export function Differences({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const title = names.length === 2 ? `${names[0]} and ${names[1]}` : names[0]!;
  return (
    <Card
      title={title}
      aside={
        <Button className="!px-2.5 !py-1 text-xs" onClick={onClose}>
          Close
        </Button>
      }
      className="mb-6"
    >
      {names.length === 2 ? (
        <Pair left={names[0]!} right={names[1]!} />
      ) : (
        <p className="text-sm text-muted">Choose another stack to see in what they differ.</p>
      )}
    </Card>
  );
}

function Pair({ left, right }: { left: string; right: string }) {
  const one = useManifest("software", left, undefined);
  const two = useManifest("software", right, undefined);
  const wrong = one.error ?? two.error;
  if (wrong) return <Trouble error={wrong} />;
  if (!one.manifest || !two.manifest) return <Waiting />;
  const sides = [one.manifest, two.manifest].map((each) => packagesOf(stackOf(each).requirements));
  const packages = differencesOf(sides[0]!, sides[1]!);
  const facts = around(one.manifest, two.manifest);
  const rows = [...facts, ...packages];
  const same = sides[0]!.length - packages.filter((each) => each.left !== "–").length;
  if (!rows.length) return <Empty>They have the same framework, Python and packages.</Empty>;
  return (
    <>
      <Table
        name="Differences"
        stacked
        rows={rows}
        identity={(row) => row.name}
        columns={[
          { title: "What", cell: (row) => row.name },
          { title: left, cell: (row) => row.left },
          { title: right, cell: (row) => row.right },
        ]}
      />
      {same > 0 && (
        <p className="mt-2 text-xs text-muted">{`${plural(same, "package")} of the same version in both.`}</p>
      )}
    </>
  );
}

/** What differs beside packages. */
function around(left: Schemas["Manifest"], right: Schemas["Manifest"]): Difference[] {
  const told = [left, right].map((manifest): Record<string, string> => {
    const { framework, env } = manifest.manifest as {
      framework?: { name: string; version?: string };
      env?: Record<string, string>;
    };
    const stack = stackOf(manifest);
    return {
      framework: framework ? `${framework.name} ${framework.version ?? ""}`.trim() : "–",
      Python: stack.python ?? "any",
      "root file system": stack.root ?? "–",
      "environment variables": Object.entries(env ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .sort()
        .join(" "),
    };
  });
  const [one, two] = [told[0]!, told[1]!];
  return Object.keys(one)
    .map((name) => ({ name, left: one[name] || "–", right: two[name] || "–" }))
    .filter((each) => each.left !== each.right);
}
