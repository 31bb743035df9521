/** A sample's name, which opens it. */
import { Link } from "@tanstack/react-router";

export function SampleLink({ id }: { id: string }) {
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, tab: "samples", sample: id })}
      className="font-mono text-xs [overflow-wrap:anywhere]"
    >
      <bdi>{id}</bdi>
    </Link>
  );
}
