/** Other versions of what a page is about. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";

interface Props {
  to: "/models/$name" | "/datasets/$name";
  name: string;
  items: Schemas["Version"][];
  chosen: string;
}

export function Versions({ to, name, items, chosen }: Props) {
  if (items.length < 2) return null;
  return (
    <nav aria-label="Versions" className="flex flex-wrap gap-2 text-sm">
      {items.map(({ version }) => (
        <Link
          key={version}
          to={to}
          params={{ name }}
          search={{ version }}
          aria-current={version === chosen ? "page" : undefined}
          className={`rounded-lg border px-2.5 py-1 ${version === chosen ? "border-accent text-accent" : "border-line text-muted"}`}
        >
          {version}
        </Link>
      ))}
    </nav>
  );
}
