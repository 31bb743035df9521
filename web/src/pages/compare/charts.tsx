/** All charts of a comparison; in a file of their own, since what draws them is large. */
import type { Schemas } from "../../api/client";
import Overview from "./overview";
import { Spread } from "./spread";

export default function Charts({ comparison }: { comparison: Schemas["Comparison"] }) {
  return (
    <div className="space-y-6">
      <Spread comparison={comparison} />
      <Overview overview={comparison.overview} />
    </div>
  );
}
