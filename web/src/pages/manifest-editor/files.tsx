/** Files that a manifest names by a path: which of them the server has, and a way to send the others. */
import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Problem, type Schemas } from "../../api/client";
import { digestOf, upload } from "../../api/upload";
import { bytes } from "../../lib/format";
import { Badge, Card, LOOKS, Trouble } from "../../ui/parts";

type OwnFile = Schemas["OwnFile"];

interface Props {
  files: readonly OwnFile[];
  may: boolean;
  /** A file is on the server: this is how the manifest names it. */
  onSent: (file: OwnFile, reference: string) => void;
}

export function Files({ files, may, onSent }: Props) {
  if (!files.length) return null;
  return (
    <Card title="Files it needs" aside="A path means nothing on another machine: the server keeps what the file holds.">
      <ul className="divide-y divide-line" aria-label="Files it needs">
        {files.map((file) => (
          <li key={`${file.where} ${file.reference}`} className="py-3 text-sm first:pt-0 last:pb-0">
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <b className="font-medium [overflow-wrap:anywhere]">{file.reference}</b>
              <span className="text-muted">{file.where}</span>
              {file.here ? (
                <Badge tone="good">on this server</Badge>
              ) : (
                <Badge tone="warn">not on this server yet</Badge>
              )}
            </p>
            {!file.here && may && <Choose file={file} onSent={(reference) => onSent(file, reference)} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Choose({ file, onSent }: { file: OwnFile; onSent: (reference: string) => void }) {
  const id = useId();
  const [words, setWords] = useState("");
  const send = useMutation({
    mutationFn: async (chosen: File) => {
      const of = ` of ${bytes(chosen.size)}`;
      const digest = await digestOf(chosen, (done) => setWords(`Reading ${bytes(done)}${of}`));
      if (file.sha256 && file.sha256 !== digest)
        throw new Problem(
          422,
          "OtherFile",
          `${chosen.name} is another file: its sha256 is ${digest}.`,
          `The manifest gives sha256:${file.sha256}. Choose that file, or correct the checksum.`,
        );
      return upload(chosen, digest, (done) => setWords(`Uploading ${bytes(done)}${of}`));
    },
    onSuccess: onSent,
  });
  if (file.start == null)
    return <p className="mt-1 text-muted">Upgrade the manifest to the current format; then you can upload the file.</p>;
  return (
    <div className="mt-2 space-y-2">
      <label
        htmlFor={id}
        className={`${LOOKS.plain} cursor-pointer focus-within:outline-2 focus-within:outline-accent`}
      >
        {send.isPending ? `${words} …` : "Choose the file and upload it"}
        <input
          id={id}
          type="file"
          aria-label={`File for ${file.where}`}
          disabled={send.isPending}
          className="sr-only"
          onChange={(event) => {
            const chosen = event.target.files?.[0];
            if (chosen) send.mutate(chosen);
            event.target.value = "";
          }}
        />
      </label>
      {send.error && <Trouble error={send.error} />}
    </div>
  );
}
