/** What was written and not saved yet stays with the tab, so that a reload loses nothing. */
const PLACE = "mlmodelscope.draft";

const name = (of: Address) =>
  `${PLACE}:${of.kind ?? ""}/${of.name ?? ""}/${of.version ?? ""}${of.record ? `/${of.record}` : ""}`;

export interface Address {
  kind?: string;
  name?: string;
  version?: string;
  /** The record whose manifest it is: the catalog need not have it. */
  record?: string;
}

export const draft = {
  read: (of: Address): string | null => sessionStorage.getItem(name(of)),
  keep(of: Address, text: string): void {
    try {
      sessionStorage.setItem(name(of), text);
    } catch {
      // No room: the text is still on the page.
    }
  },
  forget: (of: Address): void => sessionStorage.removeItem(name(of)),
};
