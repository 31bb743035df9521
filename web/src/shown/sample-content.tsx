/** A sample that is not a picture: its texts, the cells of its row, or its sound with a player. */
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { excerptOf, type Part, spelled } from "../lib/parts";
import { Thumbnail, useAddress } from "../ui/picture";
import { Waveform } from "../ui/waveform";
import { plural } from "../lib/format";
import { useHeard, useInput, useSound } from "./sample-input";

const BOX = "rounded-lg border border-line bg-paper";

export function SampleContent({ record, input }: { record: string; input: Schemas["SampleInput"] }) {
  const isEmpty = !input.texts.length && !input.cells.length && !input.sound;
  return (
    <div className="space-y-4">
      {input.texts.map(({ title, text }) => (
        <div key={title}>
          <p className="mb-1 text-xs text-muted">{title}</p>
          <p
            dir="auto"
            tabIndex={0}
            role="region"
            aria-label={title}
            className={`${BOX} max-h-96 overflow-y-auto p-3 whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext]`}
          >
            {text || <span className="text-muted">(empty)</span>}
          </p>
        </div>
      ))}
      {input.cells.length > 0 && <Cells input={input} />}
      {input.sound && <Sound record={record} sample={input.id} sound={input.sound} />}
      {isEmpty && (
        <p className={`${BOX} border-dashed p-8 text-center text-sm text-muted`}>There is nothing to show.</p>
      )}
    </div>
  );
}

function Cells({ input }: { input: Schemas["SampleInput"] }) {
  return (
    <div className={`${BOX} max-h-96 overflow-auto`} tabIndex={0} role="region" aria-label="Row">
      <table className="w-full text-sm">
        <tbody>
          {input.cells.map(({ column, value }, place) => (
            <tr key={place} className="border-b border-line last:border-0">
              <th scope="row" className="px-3 py-1.5 text-left font-normal text-muted [overflow-wrap:anywhere]">
                <bdi>{column}</bdi>
              </th>
              <td className="px-3 py-1.5 [overflow-wrap:anywhere]">
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {input.more_cells > 0 && (
        <p className="px-3 py-1.5 text-xs text-muted">{`and ${plural(input.more_cells, "more column")}`}</p>
      )}
    </div>
  );
}

function Sound({ record, sample, sound }: { record: string; sample: string; sound: Schemas["SampleSound"] }) {
  const played = useSound(record, sample, sound.reason == null);
  const address = useAddress(played.data);
  const reason = sound.reason ?? played.error?.message;
  return (
    <div className={`${BOX} space-y-2 p-3`}>
      {sound.peaks.length > 0 && <Waveform peaks={sound.peaks} about={sound.about} />}
      {address && <audio controls preload="metadata" src={address} aria-label={sample} className="w-full" />}
      {reason && <p className="text-sm text-muted">{reason}</p>}
      {sound.remark && <p className="text-xs text-muted">{sound.remark}</p>}
      <Heard record={record} sample={sample} />
    </div>
  );
}

function Heard({ record, sample }: { record: string; sample: string }) {
  const found = useHeard(record, sample);
  if (found.isPending) return <p className="text-xs text-muted">Drawing what the model hears …</p>;
  if (found.error) return <Silent>{found.error.message}</Silent>;
  return found.data.inputs.map((each, place) => {
    if (!each.png) return <Silent key={place}>{each.reason}</Silent>;
    const about = `What the model hears: ${each.tensor.replaceAll(" x ", " × ")}, from ${spelled(each.low)} to ${spelled(each.high)}`;
    return (
      <figure key={place}>
        <img
          src={`data:image/png;base64,${each.png}`}
          alt={about}
          className={`w-full rounded bg-black object-fill [image-rendering:pixelated] ${each.is_wave ? "h-14" : "h-36"}`}
        />
        <figcaption className="mt-1 text-xs text-muted">
          {about}
          {!each.is_wave && "; time to the right, the first feature at the bottom, the greatest value white"}
        </figcaption>
      </figure>
    );
  });
}

function Silent({ children }: { children: ReactNode }) {
  return <p className="text-xs text-muted">What the model hears cannot be drawn: {children}</p>;
}

const GLYPHS: Partial<Record<Part, string>> = { text: "Aa", columns: "▦", array: "[ ]", audio: "♪", document: "¶" };

/** In a list: a sample small, as a picture where it is one. */
export function Small({ record, sample, part }: { record: string; sample: string; part: Part | null }) {
  const input = useInput(record, sample, part === null || part === "audio");
  const kind = part ?? (input.data?.kind as Part | undefined) ?? (input.isError ? "image" : null);
  if (kind === "image") return <Thumbnail source={`records/${record}`} sample={sample} />;
  return (
    <span
      className="flex size-12 shrink-0 items-center justify-center overflow-hidden rounded-md bg-soft text-muted"
      aria-hidden="true"
    >
      {input.data?.sound?.peaks.length ? (
        <Waveform peaks={coarser(input.data.sound.peaks)} about="" className="h-8" />
      ) : (
        kind && GLYPHS[kind]
      )}
    </span>
  );
}

/** Fewer columns, for a place of a few pixels. */
function coarser(peaks: readonly (readonly number[])[], together = 10): number[][] {
  return Array.from({ length: Math.ceil(peaks.length / together) }, (_, at) => {
    const some = peaks.slice(at * together, (at + 1) * together);
    return [Math.min(...some.map(([low]) => low!)), Math.max(...some.map(([, high]) => high!))];
  });
}

/** In a list: how a sample begins; of a picture what else there is to say. */
export function Excerpt({
  record,
  sample,
  className = "",
  otherwise = null,
}: {
  record: string;
  sample: string;
  className?: string;
  otherwise?: ReactNode;
}) {
  const input = useInput(record, sample);
  const text = input.data ? excerptOf(input.data) : "";
  return text ? (
    <span dir="auto" className={`[unicode-bidi:plaintext] ${className}`}>
      {text}
    </span>
  ) : (
    otherwise
  );
}
