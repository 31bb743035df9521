/** Papers and pages about something: addresses of pages are links, anything else is text. */
import { asPage } from "../lib/takes";

export function References({ references }: { references: unknown }) {
  const known = (Array.isArray(references) ? references : []).map(String);
  if (!known.length) return null;
  return (
    <div className="mt-4 text-sm">
      <h3 className="text-xs font-normal text-muted">References</h3>
      <ul className="mt-1 space-y-1 [overflow-wrap:anywhere]">
        {known.map((each) => {
          const page = asPage(each);
          return (
            <li key={each}>
              {page ? (
                <a href={page.href} target="_blank" rel="noopener noreferrer">
                  {each}
                </a>
              ) : (
                each
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
