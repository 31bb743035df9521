/** Words to look for; the address follows once they are typed. */
import { useDeferredValue, useEffect, useState } from "react";

export function SearchBox({
  value,
  onChange,
  hint = "Search",
}: {
  value: string | undefined;
  onChange: (words: string | undefined) => void;
  hint?: string;
}) {
  const [words, setWords] = useState(value ?? "");
  const typed = useDeferredValue(words);
  useEffect(() => {
    if ((value ?? "") !== typed) onChange(typed || undefined);
  }, [typed]); // only when somebody types, not when the address changes by itself
  return (
    <label className="block text-sm">
      <span className="sr-only">Search</span>
      <input
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        placeholder={hint}
        className="w-full rounded-lg border border-line bg-card px-3 py-2"
      />
    </label>
  );
}
