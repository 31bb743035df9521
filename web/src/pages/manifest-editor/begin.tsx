/** A manifest from a model file: what is in the file is read, what is not is asked. */
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, useId, useState } from "react";
import { headers, Problem, type Schemas } from "../../api/client";
import { bytes } from "../../lib/format";
import { Select, Text } from "../../ui/field";
import { Button, Card, Trouble } from "../../ui/parts";

type Begun = Schemas["Begun"];
const LARGEST = 4 * 1024 ** 3;
const EMPTY = {
  name: "",
  task: "",
  color: "",
  scale: "",
  mean: "",
  std: "",
  resize: "",
  crop: "",
  labels: "",
};
type Answers = typeof EMPTY;

interface Props {
  tasks: string[];
  onBegun: (begun: Begun) => void;
  onClose: () => void;
}

export function Begin({ tasks, onBegun, onClose }: Props) {
  const [file, setFile] = useState<File | null>(null);
  const [answers, setAnswers] = useState<Answers>(EMPTY);
  const begin = useMutation({
    mutationFn: () => send(file!, answers),
    onSuccess: (begun) => !begun.questions.length && onBegun(begun),
  });
  const set = (key: keyof Answers) => (value: string) => setAnswers((before) => ({ ...before, [key]: value }));
  const questions = begin.data?.questions ?? [];
  return (
    <Card
      title="From a model file"
      aside={
        <Button onClick={onClose} aria-label="Close">
          ✕
        </Button>
      }
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (file) begin.mutate();
        }}
      >
        <Drop file={file} onFile={setFile} />
        <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <Text label="Name" value={answers.name} onChange={set("name")} hint="else it is called as the file" />
          <Select
            label="Task"
            value={answers.task}
            onChange={set("task")}
            options={["", ...tasks].map((task) => [task, task ? task.replaceAll("_", " ") : "as the file says"])}
          />
          <Select
            label="Colors"
            value={answers.color}
            onChange={set("color")}
            options={[
              ["", "as the file says"],
              ["RGB", "RGB"],
              ["BGR", "BGR"],
              ["GRAY", "grey"],
            ]}
          />
          <Text label="Scale" value={answers.scale} onChange={set("scale")} placeholder="255" />
          <Text label="Mean" value={answers.mean} onChange={set("mean")} placeholder="0.485,0.456,0.406" />
          <Text label="Deviation" value={answers.std} onChange={set("std")} placeholder="0.229,0.224,0.225" />
          <Text label="Resize" value={answers.resize} onChange={set("resize")} placeholder="256" />
          <Text label="Crop" value={answers.crop} onChange={set("crop")} placeholder="224" />
          <Text
            label="Names of the classes"
            value={answers.labels}
            onChange={set("labels")}
            placeholder="https://…/classes.txt"
          />
        </div>
        {begin.error && <Trouble error={begin.error} />}
        {questions.length > 0 && (
          <div className="rounded-lg bg-warn-soft p-4 text-sm">
            <p className="font-medium text-warn">What the file does not say:</p>
            <ul className="mt-1 list-disc pl-5">
              {questions.map((each) => (
                <li key={each.flag}>
                  <code>{each.flag.replace(/^--/, "")}</code>: {each.text}
                </li>
              ))}
            </ul>
          </div>
        )}
        <div className="flex flex-wrap gap-2">
          <Button kind="main" type="submit" disabled={!file || begin.isPending}>
            {begin.isPending ? "Reading …" : questions.length ? "Try again with these answers" : "Read it"}
          </Button>
          {questions.length > 0 && begin.data && <Button onClick={() => onBegun(begin.data!)}>Open it as it is</Button>}
        </div>
      </form>
    </Card>
  );
}

/** The body is the file itself, so it is not asked for through the client of JSON. */
async function send(file: File, answers: Answers): Promise<Begun> {
  if (file.size > LARGEST)
    throw new Problem(413, "TooLarge", `${file.name} has ${bytes(file.size)}.`, "4 GiB are the most.");
  const asked = new URLSearchParams({ file: file.name.replaceAll(/[^A-Za-z0-9._+-]/g, "_") });
  for (const [key, value] of Object.entries(answers)) if (value.trim()) asked.set(key, value.trim());
  let response: Response;
  try {
    response = await fetch(`/api/v1/manifests/init?${asked.toString()}`, {
      method: "POST",
      headers: { ...headers(), "Content-Type": "application/octet-stream" },
      body: file,
    });
  } catch {
    throw new Problem(0, "Unreachable", "The server does not answer, or takes no file so large.", "Try it again.");
  }
  const said: unknown = await response.json().catch(() => null);
  if (!response.ok) throw Problem.of(response.status, said);
  return said as Begun;
}

function Drop({ file, onFile }: { file: File | null; onFile: (file: File) => void }) {
  const id = useId();
  const [over, setOver] = useState(false);
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    const [first] = event.dataTransfer.files;
    if (first) onFile(first);
  }
  return (
    <label
      htmlFor={id}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={`block cursor-pointer rounded-xl border-2 border-dashed p-6 text-center text-sm focus-within:border-accent ${over ? "border-accent bg-accent-soft" : "border-line"}`}
    >
      {file ? (
        <>
          <b className="font-medium">{file.name}</b>, {bytes(file.size)}
        </>
      ) : (
        <>
          Drop a model file here, or <span className="text-accent underline">choose one</span>
        </>
      )}
      <span className="mt-1 block text-xs text-muted">
        ONNX, TorchScript, PyTorch export, TensorFlow, TFLite or OpenVINO. The file is read; nothing in it is run.
      </span>
      <input
        id={id}
        type="file"
        aria-label="Model file"
        className="sr-only"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          if (chosen) onFile(chosen);
          event.target.value = "";
        }}
      />
    </label>
  );
}
