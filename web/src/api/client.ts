/** Questions to the server that these pages came from. Types are made from its openapi.json (`npm run api`). */
import createClient from "openapi-fetch";
import { tellReached } from "./reach";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

const TOKEN = "mlmodelscope.token";

export const token = {
  read: (): string | null => sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN),
  /** Kept until the tab is closed, or on this machine if somebody wants that. */
  keep(secret: string, forLong: boolean): void {
    this.forget();
    (forLong ? localStorage : sessionStorage).setItem(TOKEN, secret);
  },
  forget(): void {
    sessionStorage.removeItem(TOKEN);
    localStorage.removeItem(TOKEN);
  },
};

/** What the server said was wrong, or that it said nothing at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint?: string,
    readonly facts: Record<string, unknown> = {},
  ) {
    super(message);
  }

  static gone(): Problem {
    return new Problem(0, "Unreachable", "The server does not answer.", "It is tried again by itself.");
  }

  static of(status: number, body: unknown): Problem {
    const said = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
    const text = (key: string): string | undefined =>
      typeof said[key] === "string" ? (said[key] as string) : undefined;
    return new Problem(
      status,
      text("type") ?? "Problem",
      text("detail") ?? text("title") ?? `The server says ${status}.`,
      text("hint"),
      said,
    );
  }
}

export function headers(): Record<string, string> {
  const secret = token.read();
  return secret ? { Authorization: `Bearer ${secret}` } : {};
}

async function patientFetch(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    tellReached(true);
    return response;
  } catch {
    if (!request.signal.aborted) tellReached(false);
    throw Problem.gone();
  }
}

export const api = createClient<paths>({ baseUrl: "", fetch: patientFetch });
api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(headers())) request.headers.set(name, value);
    return request;
  },
});

/** The answer, or the problem thrown: `const found = await answer(api.GET(…))`. */
export async function answer<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) throw Problem.of(response.status, error);
  return data as T;
}
