/** A sample's picture with what is to be seen over it; an answer that is a picture lies over the true one. */
import type { Problem } from "../api/client";
import type { Shape } from "../lib/shapes";
import { BeforeAfter } from "./before-after";
import { Overlay } from "./overlay";
import { Waiting } from "./parts";

interface Props {
  name: string;
  /** All of it, also what is hidden. */
  shapes: readonly Shape[];
  shown: readonly Shape[];
  /** Of the sample's own picture; none as long as it is fetched. */
  address: string | null;
  /** Why there is no picture. */
  error?: Problem | Error | null;
  /** Width and height that places are in. */
  size?: readonly number[] | null;
}

export const isPictured = (shapes: readonly Shape[]): boolean =>
  shapes.some((each) => each.kind === "picture" && each.side === "answer");

export function AnswerPicture({ name, shapes, shown, address, error, size }: Props) {
  if (isPictured(shapes)) return <BeforeAfter name={name} shapes={shapes} own={address} />;
  if (address || (error && size && shapes.length > 0))
    return (
      <>
        <Overlay address={address} name={name} shapes={shown} all={shapes} size={size} />
        {!address && <p className="mt-2 text-sm text-muted">{error?.message}</p>}
      </>
    );
  if (error)
    return (
      <p className="rounded-xl border border-dashed border-line p-8 text-center text-sm text-muted">{error.message}</p>
    );
  return <Waiting what="Fetching the picture" />;
}
