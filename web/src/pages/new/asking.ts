import type { Form } from "./request";

/** The form as it is, and how a part of it changes. */
export interface Asking {
  form: Form;
  set: (change: Form) => void;
}

/** What a field shows, and what happens when it changes. */
export const filled = ({ form, set }: Asking, field: keyof Form) => ({
  value: form[field] ?? "",
  onChange: (value: string) => set({ [field]: value || undefined }),
});
