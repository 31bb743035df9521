/** The text itself, in an editor that knows YAML. */
import { autocompletion, type CompletionContext } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { abilities } from "./abilities";
import { completions } from "./completions";
import { looks } from "./looks";
import type { Node } from "./schema";

export interface Handle {
  goTo: (from: number, to: number) => void;
}

interface Props {
  text: string;
  onChange: (text: string) => void;
  schema: Node | undefined;
  diagnostics: Diagnostic[];
  ref: Ref<Handle>;
}

export default function Code({ text, onChange, schema, diagnostics, ref }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const now = useRef({ onChange, schema });
  now.current = { onChange, schema };
  useEffect(() => {
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          abilities,
          yaml(),
          lintGutter(),
          looks,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Manifest", tabindex: "0" }),
          autocompletion({ override: [complete], icons: false }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    function complete(context: CompletionContext) {
      const found = now.current.schema
        ? completions(now.current.schema, context.state.doc.toString(), context.pos)
        : null;
      if (!found || (!context.explicit && found.from === context.pos && !afterSpace(context))) return null;
      return {
        from: found.from,
        options: found.options.map((each) => ({ label: each.label, apply: each.apply, detail: each.detail })),
        validFor: /^[\w@-]*$/,
      };
    }
    view.current = made;
    return () => made.destroy();
    // The text is the editor's own as long as it lives; what comes from elsewhere is put in below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    const there = view.current;
    if (there && there.state.doc.toString() !== text)
      there.dispatch({ changes: { from: 0, to: there.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const there = view.current;
    if (!there) return;
    const length = there.state.doc.length;
    const inside = diagnostics.filter((each) => each.to <= length);
    there.dispatch(setDiagnostics(there.state, inside));
  }, [diagnostics]);
  useImperativeHandle(ref, () => ({
    goTo(from, to) {
      const there = view.current;
      if (!there) return;
      const most = there.state.doc.length;
      there.dispatch({
        selection: { anchor: Math.min(from, most), head: Math.min(to, most) },
        effects: EditorView.scrollIntoView(Math.min(from, most), { y: "center" }),
      });
      there.focus();
    },
  }));
  return (
    <div
      ref={place}
      className="overflow-hidden rounded-xl border border-line bg-card outline-2 outline-transparent focus-within:outline-accent"
    />
  );
}

/** Values are offered as soon as there is room for one. */
function afterSpace(context: CompletionContext): boolean {
  return /(: |\{|, |- )$/.test(context.state.sliceDoc(Math.max(0, context.pos - 2), context.pos));
}
