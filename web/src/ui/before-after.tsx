/** An answer that is a picture, over the true one; or over the sample's own, where the truth is not at hand. */
import type { Shape } from "../lib/shapes";
import { Slider } from "./slider";

export function BeforeAfter({ name, shapes, own }: { name: string; shapes: readonly Shape[]; own?: string | null }) {
  const address = (side: Shape["side"]) => {
    const found = shapes.find((each) => each.kind === "picture" && each.side === side);
    return found?.kind === "picture" ? `data:image/png;base64,${found.png}` : null;
  };
  const answer = address("answer")!;
  const truth = address("truth");
  const before = truth ?? own;
  if (!before) return <img src={answer} alt={`${name}: answer`} className="w-full rounded-lg border border-line" />;
  const title = truth ? "truth" : "input";
  return (
    <Slider
      before={{ address: before, told: `${name}: ${title}`, title }}
      after={{ address: answer, told: `${name}: answer`, title: "answer" }}
      label={`Line between ${title} and answer`}
    />
  );
}
