/** How tabs look, on every page that has some. */
export const TAB_LIST = "mb-6 flex gap-1 overflow-x-auto border-b border-line";
export const TAB =
  "-mb-px border-b-2 border-transparent focus-visible:-outline-offset-2 px-3 py-2 text-sm whitespace-nowrap text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink";
