/** Code in a manifest runs only if somebody who may says so. */
import { useMay } from "../../../ui/shell";

export function Trust({ trust, onChange }: { trust: boolean; onChange: (trust: boolean) => void }) {
  const may = useMay("trust");
  if (!may)
    return (
      <p className="rounded-lg bg-warn-soft p-3 text-sm text-warn">
        To answer, this model runs code of its own. That needs a token with the scope “trust”.
      </p>
    );
  return (
    <label className="flex items-center gap-2 text-sm">
      <input type="checkbox" checked={trust} onChange={(event) => onChange(event.target.checked)} />
      Let the model’s own code run on the agent
    </label>
  );
}
