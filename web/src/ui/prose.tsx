/** A little Markdown as elements: paragraphs, bold, code and links. Everything else is shown as it was written. */
import { Fragment, type ReactNode } from "react";

export function Prose({ text }: { text: string }) {
  return (
    <div className="mt-3 max-w-3xl space-y-3 text-sm text-muted">
      {text
        .trim()
        .split(/\n\s*\n/)
        .map((part, at) => (
          <p key={at}>{inline(part)}</p>
        ))}
    </div>
  );
}

const MARKED = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\((https?:\/\/[^\s)"]+)\)/g;

function inline(text: string): ReactNode[] {
  const found: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKED)) {
    found.push(text.slice(end, match.index));
    const [whole, code, bold, name, address] = match;
    if (code !== undefined) found.push(<code className="text-ink">{code}</code>);
    else if (bold !== undefined) found.push(<strong className="font-medium text-ink">{bold}</strong>);
    else
      found.push(
        <a href={address} rel="noopener noreferrer" className="underline">
          {name}
        </a>,
      );
    end = match.index + whole.length;
  }
  return [...found, text.slice(end)].map((each, at) => <Fragment key={at}>{each}</Fragment>);
}
