/** What one expects of an editor: undo, search, brackets, folding. Tab leaves it, as it leaves any other field. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { EditorSelection } from "@codemirror/state";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import {
  drawSelection,
  type EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { indentAfter } from "./indent";

/** The language's own rule lines a new line up with the braces of the one before. */
function newLine({ state, dispatch }: EditorView): boolean {
  if (state.readOnly) return false;
  const change = state.changeByRange(({ from, to }) => {
    const line = state.doc.lineAt(from);
    const insert = `\n${indentAfter(line.text.slice(0, from - line.from))}`;
    return { changes: { from, to, insert }, range: EditorSelection.cursor(from + insert.length) };
  });
  dispatch(state.update(change, { scrollIntoView: true, userEvent: "input" }));
  return true;
}

export const abilities = [
  lineNumbers(),
  foldGutter(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  drawSelection(),
  history(),
  bracketMatching(),
  closeBrackets(),
  keymap.of([
    // A choice that is open is taken first.
    ...completionKeymap,
    { key: "Enter", run: newLine },
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...lintKeymap,
  ]),
];
