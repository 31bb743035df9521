/** What the server says of a text, a moment after somebody has stopped typing. */
import type { Diagnostic } from "@codemirror/lint";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { placeOf, units } from "./place";

const PAUSE_MS = 400;
const AGAIN_MS = 2000;
export const LONGEST = 1_000_000;

export function useCheck(text: string) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useQuery({
    queryKey: ["check", settled],
    queryFn: () => answer(api.POST("/api/v1/manifests/check", { body: { text: settled, fix: false, verbose: true } })),
    enabled: settled.trim() !== "" && settled.length <= LONGEST,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    retry: false,
    // While the server is gone it is tried again; the text is here all the time.
    refetchInterval: (query) => (isGone(query.state.error) ? AGAIN_MS : false),
  });
  return { checked: found.data, error: found.error, gone: isGone(found.error), settled };
}

const isGone = (error: unknown) => error instanceof Problem && (error.status === 0 || error.status >= 500);

export function diagnosticsOf(text: string, findings: readonly Schemas["LintFinding"][]): Diagnostic[] {
  return findings.map((finding) => ({
    ...placeOf(text, finding.line, finding.column),
    severity: finding.severity ?? "error",
    message: [finding.message, finding.hint].filter(Boolean).join("\n"),
    source: finding.code,
  }));
}

/** The text with all edits of a finding made; from the last to the first, so that places stay right. */
export function mended(text: string, edits: readonly Schemas["Edit"][]): string {
  return [...edits]
    .sort((one, two) => two.start - one.start)
    .reduce((now, edit) => now.slice(0, units(text, edit.start)) + edit.text + now.slice(units(text, edit.end)), text);
}
