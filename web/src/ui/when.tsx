/** How long ago something was; the moment itself is shown to whoever points at it. */
import { ago } from "../lib/format";

export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {ago(at)}
    </time>
  );
}
