/** Both answers to a sample over its picture, each with the truth. */
import type { Schemas } from "../../api/client";
import { isShown, type Shape } from "../../lib/shapes";
import { Overlay } from "../../ui/overlay";
import { useAddress, usePicture } from "../../ui/picture";
import { Slider } from "../../ui/slider";

const ABOVE = 0.3;

export function Overlaid({
  record,
  name,
  of,
}: {
  record?: string | null;
  name: string;
  of: Schemas["OverlaidAnswers"];
}) {
  const picture = usePicture(`records/${record ?? ""}`, name, 512);
  const address = useAddress(picture.data);
  const pictures = [of.before, of.after].map((shapes) => shapes?.find((each) => each.kind === "picture"));
  const [before, after] = pictures.map((each) =>
    each?.kind === "picture" ? `data:image/png;base64,${each.png}` : null,
  );
  if (before && after)
    return (
      <div className="mb-3">
        <Slider
          before={{ address: before, told: `${name}, answered before`, title: "answer before" }}
          after={{ address: after, told: `${name}, answered after`, title: "answer after" }}
          label={`Line between the answers to ${name}`}
        />
      </div>
    );
  return (
    <div className="mb-3 grid grid-cols-2 gap-3">
      {(["before", "after"] as const).map((side) => {
        const all = [...(of.truth ?? []), ...(of[side] ?? [])] as Shape[];
        return (
          <figure key={side} className="min-w-0">
            <Overlay
              address={address ?? null}
              name={`${name}, ${side}`}
              shapes={all.filter((each) => isShown(each, ABOVE))}
              all={all}
              size={of.size}
            />
            <figcaption className="mt-1 text-xs text-muted">{`answer ${side}, over the truth`}</figcaption>
          </figure>
        );
      })}
    </div>
  );
}
