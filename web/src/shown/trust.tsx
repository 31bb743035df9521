/** Code in a manifest runs only if a user who may let it says so. */
import { Problem } from "../api/client";
import { useMay } from "../ui/shell";

/** Whether the server refused because of code, and not because of something else. */
export const wantsTrust = (error: unknown): boolean => error instanceof Problem && error.kind.endsWith(":TrustError");

export function Trust({ trust, onChange }: { trust: boolean; onChange: (trust: boolean) => void }) {
  const may = useMay("trust");
  if (!may)
    return (
      <p className="rounded-lg bg-warn-soft p-3 text-sm text-warn">
        This model runs code of its own. That needs a token with the scope “trust”, and an agent that was started with{" "}
        <code>--trust</code>.
      </p>
    );
  return (
    <label className="flex items-center gap-2 text-sm">
      <input type="checkbox" checked={trust} onChange={(event) => onChange(event.target.checked)} />
      Let the model’s own code run on the agent
    </label>
  );
}
