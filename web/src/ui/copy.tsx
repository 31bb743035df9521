/** Code with a button that copies it and says that it did. */
import { useEffect, useRef, useState } from "react";
import { Button } from "./parts";

const TOLD_MS = 3000;
type Told = "" | "Copied" | "Select the code to copy it";

export function Copyable({ code, name }: { code: string; name: string }) {
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        role="region"
        aria-label={name}
        className="overflow-x-auto rounded-lg bg-paper p-4 pr-24 font-mono text-xs"
      >
        {code}
      </pre>
      <div className="absolute top-2 right-2">
        <Copy text={code} what={name} />
      </div>
    </div>
  );
}

export function Copy({ text, what }: { text: string; what: string }) {
  const [told, setTold] = useState<Told>("");
  const timer = useRef<number>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => setTold(""), [text]);
  async function copy() {
    setTold((await copied(text)) ? "Copied" : "Select the code to copy it");
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setTold(""), TOLD_MS);
  }
  return (
    <span className="flex items-center gap-2">
      <Button className="!px-2.5 !py-1 text-xs" aria-label={`Copy: ${what}`} onClick={() => void copy()}>
        {told === "Copied" ? told : "Copy"}
      </Button>
      <span role="status" className={told === "Copied" ? "sr-only" : "text-xs text-muted"}>
        {told}
      </span>
    </span>
  );
}

/** Whether it lies on the clipboard now. Browsers have the newer way only on pages that came safely. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    document.body.append(area);
    area.select();
    try {
      return document.execCommand("copy");
    } finally {
      area.remove();
    }
  }
}
