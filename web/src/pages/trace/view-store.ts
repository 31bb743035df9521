/** A view that several timelines share: whoever moves it tells the others, without React in between. */
import { type View, within } from "./view";

export class ViewStore {
  #view: View;
  readonly #listeners = new Set<() => void>();

  constructor(
    view: View,
    readonly duration: number,
  ) {
    this.#view = within(view, duration);
  }

  get view(): View {
    return this.#view;
  }

  set(view: View): void {
    this.#view = within(view, this.duration);
    for (const tell of this.#listeners) tell();
  }

  subscribe(tell: () => void): () => void {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  }
}
