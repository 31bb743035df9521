/** The question what there is to see of a sample of a record. */
import { answer, api } from "./client";

export const seenOf = (record: string, sample: string) => ({
  queryKey: ["shapes", record, sample],
  queryFn: () =>
    answer(api.GET("/api/v1/records/{name}/shapes", { params: { path: { name: record }, query: { sample } } })),
  staleTime: Number.POSITIVE_INFINITY,
});

export type Seen = Awaited<ReturnType<ReturnType<typeof seenOf>["queryFn"]>>;
