/** Let an agent finish what it has and take nothing new, or the other way round; for those who may. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../api/client";
import { Button, Trouble } from "../ui/parts";
import { useMay } from "../ui/shell";

export function Drain({ agent }: { agent: Schemas["Agent"] }) {
  const may = useMay("admin");
  const queries = useQueryClient();
  const draining = agent.state === "draining";
  const change = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/v1/agents/{identity}/drain", {
          params: { path: { identity: agent.id } },
          body: { draining: !draining },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
  if (!may || agent.state === "gone") return null;
  return (
    <>
      <Button disabled={change.isPending} onClick={() => change.mutate()}>
        {draining ? "Let it work again" : "Drain"}
      </Button>
      {change.error && <Trouble error={change.error} />}
    </>
  );
}
