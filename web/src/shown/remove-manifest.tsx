/** Take a manifest out of the shared catalog; for its owner and for administrators. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { Button, Trouble } from "../ui/parts";
import { useMay } from "../ui/shell";

export function RemoveManifest({ manifest, to }: { manifest: Schemas["Manifest"]; to: "/models" | "/datasets" }) {
  const may = useMay("admin");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { kind, name, version } = manifest;
  const remove = useMutation({
    mutationFn: () =>
      answer(api.DELETE("/api/v1/manifests/{kind}/{name}/{version}", { params: { path: { kind, name, version } } })),
    onSuccess: async () => {
      await queries.invalidateQueries();
      await navigate({ to });
    },
  });
  if (!may || manifest.shipped) return null;
  return (
    <>
      <Button
        disabled={remove.isPending}
        onClick={() =>
          window.confirm(`Remove ${name}@${version} from the catalog? Its records stay.`) && remove.mutate()
        }
      >
        Remove
      </Button>
      {remove.error && <Trouble error={remove.error} />}
    </>
  );
}
