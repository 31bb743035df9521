/** Precision over recall: of all classes, or of one that is chosen. */
import { lazy, Suspense, useMemo, useState } from "react";
import type { Schemas } from "../../api/client";
import { Card, Waiting } from "../../ui/parts";

const PrecisionRecall = lazy(() => import("./precision-recall"));

interface ClassCurve {
  class: number;
  precision: number[];
}

export function Curves({ record }: { record: Schemas["Record"] }) {
  const mean = record.details?.precision_recall as { recall: number; precision: number }[] | undefined;
  const classes = (record.details?.precision_recall_classes as ClassCurve[] | undefined) ?? [];
  const [chosen, setChosen] = useState("");
  const points = useMemo(() => {
    const own = classes.find((each) => String(each.class) === chosen)?.precision;
    return own ? own.map((precision, at) => ({ recall: at / (own.length - 1), precision })) : (mean ?? []);
  }, [chosen, classes, mean]);
  if (!mean?.length) return null;
  const named = (number: number) => record.class_names[number] || `class ${number}`;
  return (
    <Card title="Precision and recall" aside="overlap of 0.50">
      {classes.length > 1 && (
        <label className="mb-3 flex min-w-0 items-center gap-2 text-sm">
          <span className="text-muted">Of</span>
          <select
            aria-label="Class of the curve"
            value={chosen}
            onChange={(event) => setChosen(event.target.value)}
            className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5"
          >
            <option value="">the mean of all classes</option>
            {classes.map((each) => (
              <option key={each.class} value={each.class}>
                {named(each.class)}
              </option>
            ))}
          </select>
        </label>
      )}
      <Suspense fallback={<Waiting />}>
        <PrecisionRecall points={points} name={record.id} />
      </Suspense>
    </Card>
  );
}
