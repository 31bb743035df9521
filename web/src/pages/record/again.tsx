/** The same plan once more: what to ask for is the server's word, and one sees it happen. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { Button, Trouble } from "../../ui/parts";
import { useMay } from "../../ui/shell";

export function Again({ record }: { record: Schemas["Record"] }) {
  const may = useMay("run");
  const navigate = useNavigate();
  const asked = useMutation({
    mutationFn: async () => {
      const params = { path: { name: record.id } };
      const { request } = await answer(api.GET("/api/v1/records/{name}/request", { params }));
      const accepted = await answer(api.POST("/api/v1/requests", { body: request }));
      return accepted.evaluations[0]!.id;
    },
    onSuccess: (id) => void navigate({ to: "/evaluations/$id", params: { id } }),
  });
  if (!may) return null;
  return (
    <>
      <Button kind="main" disabled={asked.isPending} onClick={() => asked.mutate()}>
        {asked.isPending ? "Asking …" : record.status === "finished" ? "Run again" : "Go on"}
      </Button>
      {asked.error && (
        <div className="w-full">
          <Trouble error={asked.error} />
        </div>
      )}
    </>
  );
}
