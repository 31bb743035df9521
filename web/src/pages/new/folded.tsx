/** Where it may run and how: folded, with what holds by default or was chosen in one line. */
import type { ReactNode } from "react";
import { Select, Text } from "../../ui/field";
import { Fold } from "../../ui/fold";
import { Card } from "../../ui/parts";
import { type Asking, filled } from "./asking";
import { Names } from "./names";
import type { Form } from "./request";

const WHERE = [
  ["framework", "framework"],
  ["frameworkVersion", "version"],
  ["stack", "stack"],
  ["agent", "agent"],
  ["architecture", "architecture"],
  ["vendor", "vendor"],
  ["processor", "processor"],
  ["flags", "instructions"],
  ["cores", "cores ≥"],
  ["memory", "GiB ≥"],
  ["accelerator", "accelerator"],
  ["acceleratorMemory", "its GiB ≥"],
  ["interconnect", "interconnect"],
  ["labels", "labels"],
] as const;
const HOW = [
  ["agents", "agents:"],
  ["shards", "shards"],
  ["priority", "priority"],
  ["timeout", "time limit (s)"],
] as const;

function chosen(form: Form, fields: readonly (readonly [keyof Form, string])[]): string {
  return fields
    .filter(([field]) => form[field])
    .map(([field, name]) => `${name} ${form[field]}`)
    .join(", ");
}

function Folded({ name, said, usual, children }: { name: string; said: string; usual: string; children: ReactNode }) {
  return (
    <Card>
      <Fold
        open={said !== ""} // a link that says something shows it
        title={
          <>
            <b className="font-semibold text-ink">{name}</b> <span className="ml-1">{said || usual}</span>
          </>
        }
      >
        {() => <div className="mt-2 grid gap-4 sm:grid-cols-2">{children}</div>}
      </Fold>
    </Card>
  );
}

export function Where(asking: Asking) {
  return (
    <Folded name="Where" said={chosen(asking.form, WHERE)} usual="any agent that fits">
      <Names label="Framework" of="frameworks" placeholder="tensorflow" {...filled(asking, "framework")} />
      <Text label="Its version" placeholder=">=1.10.x and <=1.13.0" {...filled(asking, "frameworkVersion")} />
      <Names label="Stack" of="stacks" {...filled(asking, "stack")} />
      <Names label="Agent" of="agents" {...filled(asking, "agent")} />
      <Text label="Architecture" placeholder="x86_64" {...filled(asking, "architecture")} />
      <Text label="Vendor of the processor" placeholder="Intel" {...filled(asking, "vendor")} />
      <Text label="Processor" placeholder="Xeon" {...filled(asking, "processor")} />
      <Text label="Instructions" placeholder="avx2, fma" {...filled(asking, "flags")} />
      <Text label="Cores at least" type="number" {...filled(asking, "cores")} />
      <Text label="Memory at least, GiB" type="number" {...filled(asking, "memory")} />
      <Text label="Accelerator" placeholder="V100" {...filled(asking, "accelerator")} />
      <Text label="Its memory at least, GiB" type="number" {...filled(asking, "acceleratorMemory")} />
      <Text label="Interconnect" placeholder="NVLink" {...filled(asking, "interconnect")} />
      <Text label="Labels" placeholder="room=3" {...filled(asking, "labels")} />
    </Folded>
  );
}

export function How(asking: Asking) {
  return (
    <Folded name="How" said={chosen(asking.form, HOW)} usual="one agent, not sharded, priority 5, no time limit">
      <Select
        label="Agents"
        {...filled(asking, "agents")}
        options={[
          ["", "one that fits"],
          ["all", "every one that fits"],
        ]}
      />
      <Text label="Shards" type="number" hint="split the samples among agents" {...filled(asking, "shards")} />
      <Text label="Priority" type="number" hint="1 to 9, default: 5" {...filled(asking, "priority")} />
      <Text label="Time limit (s)" type="number" {...filled(asking, "timeout")} />
    </Folded>
  );
}
