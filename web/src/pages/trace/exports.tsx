/** The trace to take along, for the programs that show it. */
import * as Popover from "@radix-ui/react-popover";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { saveFrom } from "../../lib/save";
import { Button, Trouble } from "../../ui/parts";

const FORMS = [
  ["perfetto", "Perfetto", "json", "a track for each level; drop the file on ui.perfetto.dev or chrome://tracing"],
  ["speedscope", "speedscope", "speedscope.json", "a flame graph for speedscope.app"],
  ["otlp", "OTLP", "otlp.json", "for collectors of OpenTelemetry"],
  ["csv", "CSV", "csv", "a row for each span"],
] as const;
type Form = (typeof FORMS)[number];

export function Exports({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const saved = useMutation({
    mutationFn: ([form, , ending]: Form) => saveFrom(`/traces/${id}/export?format=${form}`, `${id}.${ending}`),
    onSuccess: () => setOpen(false),
  });
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button>Export</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          collisionPadding={12}
          aria-label="Formats of the trace"
          className="z-20 w-72 rounded-xl border border-line bg-card p-2 shadow-lg"
        >
          {FORMS.map((form) => (
            <button
              key={form[0]}
              type="button"
              disabled={saved.isPending}
              onClick={() => saved.mutate(form)}
              className="block w-full rounded-lg px-3 py-2 text-left text-sm hover:bg-soft disabled:opacity-50"
            >
              <span className="font-medium">{form[1]}</span>
              <span className="block text-xs text-muted">{form[3]}</span>
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
