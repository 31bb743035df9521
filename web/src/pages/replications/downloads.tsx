/** The report in all its forms. */
import { useMutation } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { fetchFile, saveFile } from "../../api/files";
import { Button } from "../../ui/parts";

const FORMS = [
  ["html", "Report", "html"],
  ["md", "Markdown", "md"],
  ["junit", "JUnit", "xml"],
] as const;

export function Downloads({ of }: { of: Schemas["Replication"] }) {
  const load = useMutation({
    mutationFn: async ([form, , ending]: (typeof FORMS)[number]) => {
      const path = `/api/v1/replications/${encodeURIComponent(of.id)}/report?form=${form}`;
      saveFile(`${of.id}.${ending}`, await fetchFile(path));
    },
  });
  if (!of.finding) return null;
  const json = () => new Blob([JSON.stringify(of.finding, null, 1)], { type: "application/json" });
  return (
    <div>
      <div className="flex flex-wrap gap-2" role="group" aria-label="Download">
        {FORMS.map((form) => (
          <Button key={form[0]} disabled={load.isPending} onClick={() => load.mutate(form)}>
            {form[1]}
          </Button>
        ))}
        <Button onClick={() => saveFile(`${of.id}.json`, json())}>JSON</Button>
      </div>
      {load.error && (
        <p role="alert" className="mt-1 text-sm text-bad">
          {load.error.message}
        </p>
      )}
    </div>
  );
}
