/** Saved views, and which columns are shown. */
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { INPUT } from "../../ui/field";
import { Fold } from "../../ui/fold";
import { Button } from "../../ui/parts";
import { chosenColumns, COLUMNS, spelledColumns } from "./columns";
import type { Look } from "./search";
import { LONGEST, removeView, saveView, useViews } from "./views";

interface Props {
  look: Look;
  onChange: (look: Look) => void;
}

export function ViewBar({ look, onChange }: Props) {
  const views = useViews();
  return (
    <div className="mb-4 flex flex-wrap items-start gap-x-6 gap-y-3">
      {views.length > 0 && (
        <ul aria-label="Saved views" className="flex flex-wrap gap-2 text-sm">
          {views.map((view) => (
            <li key={view.name} className="flex items-center rounded-lg border border-line bg-card">
              <Link to="/records" search={view.look} className="px-3 py-1">
                {view.name}
              </Link>
              <button
                type="button"
                aria-label={`Remove the view ${view.name}`}
                className="cursor-pointer px-2 py-1 text-muted"
                onClick={() => removeView(view.name)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <Fold title="Save this view">{() => <Save look={look} />}</Fold>
      <Fold title="Columns">{() => <Columns look={look} onChange={onChange} />}</Fold>
    </div>
  );
}

function Save({ look }: { look: Look }) {
  const [name, setName] = useState("");
  function save(event: FormEvent) {
    event.preventDefault();
    if (name.trim()) saveView(name, look);
    setName("");
  }
  return (
    <form onSubmit={save} className="flex flex-wrap items-end gap-2">
      <label>
        <span className="sr-only">Name of the view</span>
        <input
          required
          maxLength={LONGEST}
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="Name of the view"
          className={INPUT}
        />
      </label>
      <Button type="submit">Save</Button>
      <p className="w-full text-xs text-muted">Kept in this browser. To share a view, copy the address of this page.</p>
    </form>
  );
}

function Columns({ look, onChange }: Props) {
  const shown = chosenColumns(look.columns).map(({ key }) => key);
  function toggle(key: string) {
    const next = shown.includes(key) ? shown.filter((each) => each !== key) : [...shown, key];
    onChange({ ...look, columns: spelledColumns(next) });
  }
  return (
    <fieldset className="grid grid-cols-2 gap-x-5 gap-y-1 sm:grid-cols-4">
      <legend className="sr-only">Columns</legend>
      {COLUMNS.filter(({ key }) => key !== "model").map(({ key, title }) => (
        <label key={key} className="flex items-center gap-2">
          <input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} /> {title}
        </label>
      ))}
    </fieldset>
  );
}
