/** Puts a record beside others, or takes it away again. */
import { basket, useBasket } from "../lib/basket";
import { Button } from "./parts";

export function AddToComparison({ record, brief = false }: { record: string; brief?: boolean }) {
  const chosen = useBasket().includes(record);
  return (
    <Button
      aria-pressed={chosen}
      aria-label={brief ? `Compare ${record}` : undefined}
      title={chosen ? "Take it out of the comparison" : "Add it to the comparison"}
      className={`${chosen ? "!border-accent !text-accent" : ""} ${brief ? "!px-2 !py-0.5 !text-xs" : ""}`}
      onClick={() => basket.toggle(record)}
    >
      {brief ? (chosen ? "✓ compare" : "+ compare") : chosen ? "In the comparison ✓" : "Add to comparison"}
    </Button>
  );
}
