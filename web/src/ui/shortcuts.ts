/** Keys that lead somewhere from every page: `/` searches, `?` lists them, `g` and a letter goes to a page. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export const GOES = [
  ["h", "/", "Home"],
  ["m", "/models", "Models"],
  ["d", "/datasets", "Datasets"],
  ["e", "/evaluations", "Evaluations"],
  ["n", "/new", "Evaluate"],
  ["r", "/records", "Records"],
  ["l", "/leaderboards", "Leaderboards"],
  ["c", "/replications", "Claims"],
  ["o", "/compare", "Compare"],
  ["t", "/traces", "Traces"],
  ["a", "/agents", "Agents"],
  ["s", "/stacks", "Stacks"],
  ["u", "/account", "Account"],
] as const;
export type Shown = "search" | "keys";
const PATIENCE_MS = 1500;

/** Whether somebody writes, so that a letter is a letter. */
export function isWriting(target: EventTarget | null): boolean {
  const element = target instanceof HTMLElement ? target : null;
  return element !== null && (element.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName));
}

export function useShortcuts(show: (what: Shown) => void): void {
  const navigate = useNavigate();
  const begun = useRef(-Infinity);
  useEffect(() => {
    function pressed(event: KeyboardEvent) {
      const isOpen = document.querySelector("[role=dialog]") !== null;
      if (event.defaultPrevented || event.repeat || isOpen) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        show("search");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const goes = event.timeStamp - begun.current < PATIENCE_MS && GOES.find(([key]) => key === event.key);
      begun.current = event.key === "g" ? event.timeStamp : -Infinity;
      if (goes) void navigate({ to: goes[1] });
      else if (event.key === "/") show("search");
      else if (event.key === "?") show("keys");
      else return;
      event.preventDefault();
    }
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [navigate, show]);
}
