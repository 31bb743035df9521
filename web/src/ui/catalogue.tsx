/** A list to look through: words and facets at the side, how many there are above, cards. */
import { type ReactNode, useState } from "react";
import { plural } from "../lib/format";
import { Button, Empty, Trouble, Waiting } from "./parts";

interface Found {
  isPending: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface Props {
  found: Found;
  total: number | undefined;
  word: string;
  search: ReactNode;
  facets: ReactNode;
  sort: ReactNode;
  cards: ReactNode[];
}

export function Catalogue({ found, total, word, search, facets, sort, cards }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <div className="grid gap-6 lg:grid-cols-[15rem_1fr]">
      <aside aria-label="Filters" className="space-y-5">
        <div className="flex gap-2">
          <div className="flex-1">{search}</div>
          <Button className="lg:hidden" aria-expanded={open} onClick={() => setOpen(!open)}>
            Filters
          </Button>
        </div>
        <div className={`space-y-5 lg:block ${open ? "" : "hidden"}`}>{facets}</div>
      </aside>
      <div className="min-w-0">
        <div className="mb-3 flex items-center justify-between gap-3 text-sm text-muted" aria-live="polite">
          <span>{total === undefined ? "" : plural(total, word)}</span>
          {sort}
        </div>
        {found.isPending ? (
          <Waiting />
        ) : found.error && !cards.length ? (
          <Trouble error={found.error} again={() => void found.refetch()} />
        ) : cards.length ? (
          <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">{cards}</ul>
        ) : (
          <Empty>{`No matching ${word}. Remove a filter or broaden your search.`}</Empty>
        )}
        {found.hasNextPage && (
          <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            More
          </Button>
        )}
      </div>
    </div>
  );
}

export function SortBy({ value, onChange }: { value: string | undefined; onChange: (value: string) => void }) {
  return (
    <label>
      Sort by{" "}
      <select
        value={value ?? "name"}
        onChange={(event) => onChange(event.target.value)}
        className="rounded-md border border-line bg-card px-1.5 py-1"
      >
        <option value="name">name</option>
        <option value="newest">newest</option>
        <option value="evaluations">evaluations</option>
      </select>
    </label>
  );
}

export const list = (value?: string) => (value ? value.split(",") : undefined);
