/** How a training went, and what it made. */
import { lazy, Suspense } from "react";
import type { Schemas } from "../../api/client";
import { bytes, digits } from "../../lib/format";
import { Card, Figure, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { called, seconds } from "./numbers";

const Curve = lazy(() => import("./curve"));

export function Training({ training }: { training: Schemas["TrainingRecord"] }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        {Object.entries(training.metrics).map(([name, value]) => (
          <Figure key={name} name={called(name)} value={digits(value)} />
        ))}
        {training.wall_s != null && (
          <Figure name="It took" value={seconds(training.wall_s)} beside={training.stopped} />
        )}
      </div>
      {training.curve.length > 1 && (
        <Card title="How it learned">
          <Suspense fallback={<Waiting />}>
            <Curve points={training.curve} />
          </Suspense>
        </Card>
      )}
      {training.artifacts.length > 0 && (
        <Card title="What it made">
          <Table
            name="What it made"
            rows={training.artifacts}
            identity={(file) => file.name}
            columns={[
              { title: "File", cell: (file) => file.name },
              { title: "Size", right: true, cell: (file) => bytes(file.size_bytes) },
              { title: "sha256", cell: (file) => <code className="text-xs">{file.sha256.slice(0, 16)}</code> },
            ]}
          />
        </Card>
      )}
    </>
  );
}
