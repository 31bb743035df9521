/** The editor in the colours of the page, light and dark alike. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--card)", color: "var(--ink)", fontSize: "13px" },
  ".cm-content": { fontFamily: "var(--font-mono)", caretColor: "var(--ink)", padding: "12px 0" },
  ".cm-scroller": { minHeight: "26rem", maxHeight: "70vh", overflow: "auto", lineHeight: "1.6" },
  "&.cm-focused": { outline: "none" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--soft) 60%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft) !important",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "0.6rem",
    overflow: "hidden",
    boxShadow: "0 6px 24px rgb(0 0 0 / 0.18)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    padding: "4px 10px",
    display: "flex",
    gap: "1rem",
    alignItems: "baseline",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700", color: "var(--accent)" },
  ".cm-completionDetail": {
    marginLeft: "auto",
    fontFamily: "var(--font-sans)",
    fontStyle: "normal",
    fontSize: "12px",
    color: "var(--muted)",
    maxWidth: "26rem",
    overflow: "hidden",
    textOverflow: "ellipsis",
  },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font-sans)" },
  ".cm-panels": { backgroundColor: "var(--soft)", color: "var(--ink)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.quote], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--muted)" },
]);

export const looks = [theme, syntaxHighlighting(colours)];
