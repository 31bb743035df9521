/** The record to take along, in the forms that it has. */
import * as Popover from "@radix-ui/react-popover";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { download } from "../../api/download";
import { Button, Trouble } from "../../ui/parts";

interface Form {
  path: string;
  name: string;
  ending: string;
  about: string;
}
const REPORTS: Form[] = [
  { path: "report?form=html", name: "HTML report", ending: "html", about: "one page with everything in it" },
  { path: "report?form=json", name: "JSON", ending: "json", about: "the record and its samples" },
  { path: "report?form=csv", name: "CSV", ending: "csv", about: "a row for each sample" },
];
const TABLE: Form = { path: "report?form=parquet", name: "Parquet", ending: "parquet", about: "the table of samples" };
const LOG: Form = { path: "log", name: "Reference log", ending: "yml", about: "to compare other runs with" };
const BUNDLE: Form = { path: "bundle", name: "Bundle", ending: "zip", about: "signed, for another server" };

function formsOf(record: Schemas["Record"]): Form[] {
  if (record.profile) return [BUNDLE];
  if (record.bench || record.training) return [...REPORTS, BUNDLE];
  return [...REPORTS, TABLE, LOG, BUNDLE];
}

export function Downloads({ record }: { record: Schemas["Record"] }) {
  const [open, setOpen] = useState(false);
  const saved = useMutation({
    mutationFn: ({ path, ending }: Form) => download(`records/${record.id}/${path}`, `${record.id}.${ending}`),
    onSuccess: () => setOpen(false),
  });
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button>Download</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={12}
          aria-label="Forms of the record"
          className="z-20 w-72 rounded-xl border border-line bg-card p-2 shadow-lg"
        >
          {formsOf(record).map((form) => (
            <button
              key={form.name}
              type="button"
              disabled={saved.isPending}
              onClick={() => saved.mutate(form)}
              className="block w-full rounded-lg px-3 py-2 text-left text-sm hover:bg-soft disabled:opacity-50"
            >
              <span className="font-medium">{form.name}</span>
              <span className="block text-xs text-muted">{form.about}</span>
            </button>
          ))}
          {saved.error && (
            <div className="mt-2">
              <Trouble error={saved.error} />
            </div>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
