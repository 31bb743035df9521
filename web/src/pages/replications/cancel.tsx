import { useMutation } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { Button } from "../../ui/parts";
import { useMay } from "../../ui/shell";

/** A replication or a sensitivity is an evaluation, and ends as one. */
export function Cancel({ of, onDone }: { of: { id: string; cancelling: boolean }; onDone: () => void }) {
  const may = useMay("run");
  const cancel = useMutation({
    mutationFn: () =>
      answer(api.POST("/api/v1/evaluations/{identity}/cancel", { params: { path: { identity: of.id } } })),
    onSettled: onDone,
  });
  if (!may) return null;
  return (
    <Button kind="danger" disabled={cancel.isPending || of.cancelling} onClick={() => cancel.mutate()}>
      {of.cancelling ? "Cancelling …" : "Cancel"}
    </Button>
  );
}
