/** Before anything is chosen: all that was measured here, and what to choose from. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { answer, api } from "../../api/client";
import { Empty, Heading, Trouble, Waiting } from "../../ui/parts";

const OverviewCharts = lazy(() => import("./overview"));

export function Everything() {
  const found = useQuery({
    queryKey: ["overview"],
    queryFn: () => answer(api.GET("/api/v1/overview")),
  });
  return (
    <>
      <Heading
        title="Compare"
        about="The accuracy, size and speed of every model measured here, dataset by dataset. Choose records to see them side by side."
      />
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : !found.data ? (
        <Waiting />
      ) : found.data.tables.length ? (
        <Suspense fallback={<Waiting />}>
          <OverviewCharts overview={found.data} choose />
        </Suspense>
      ) : (
        <Empty>Nothing was measured here yet. Evaluate a model, or several, and compare them here.</Empty>
      )}
    </>
  );
}
