/** More to see for whoever opens it; nothing of it is made before, since tables can be long. */
import { type ReactNode, useState } from "react";

interface Props {
  title: ReactNode;
  open?: boolean;
  className?: string;
  children: () => ReactNode;
}

export function Fold({ title, open: first = false, className = "", children }: Props) {
  const [open, setOpen] = useState(first);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className={`text-sm ${className}`}>
      <summary className="cursor-pointer text-muted">{title}</summary>
      {open && <div className="mt-2">{children()}</div>}
    </details>
  );
}
