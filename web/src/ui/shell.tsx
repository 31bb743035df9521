/** What is around every page: where one can go, who one is, light or dark. */
import { Link, Outlet } from "@tanstack/react-router";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { useReached } from "../api/reach";
import { useBasket } from "../lib/basket";
import { Find } from "./find";

const PLACES = [
  ["/models", "Models"],
  ["/datasets", "Datasets"],
  ["/stacks", "Stacks"],
  ["/agents", "Agents"],
  ["/new", "Evaluate"],
  ["/evaluations", "Evaluations"],
  ["/records", "Records"],
  ["/leaderboards", "Leaderboards"],
  ["/compare", "Compare"],
  ["/replications", "Claims"],
  ["/traces", "Traces"],
] as const;

export function Shell() {
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#main" className="absolute -top-16 left-4 z-10 rounded-lg bg-card px-4 py-2 focus:top-4">
        To the content
      </a>
      <header className="border-b border-line bg-card">
        <div className="mx-auto flex max-w-6xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-6">
          <Link to="/" className="flex items-center gap-2.5 font-semibold text-ink hover:no-underline">
            <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true" className="text-accent">
              <path
                d="M1 2v12M29 2v12M1 8h28"
                stroke="currentColor"
                strokeWidth="2"
                strokeLinecap="round"
                fill="none"
              />
              <circle cx="17" cy="8" r="5" fill="currentColor" />
            </svg>
            MLModelScope
          </Link>
          <nav
            aria-label="Main"
            className="order-last flex w-full flex-wrap gap-x-4 gap-y-0.5 text-sm whitespace-nowrap lg:order-none lg:w-auto lg:gap-x-5"
          >
            {PLACES.map(([to, name]) => (
              <Link
                key={to}
                to={to}
                className="py-1 text-muted"
                activeProps={{ className: "!text-ink font-medium", "aria-current": "page" }}
              >
                {name}
                {to === "/compare" && <InBasket />}
              </Link>
            ))}
          </nav>
          <div className="ml-auto flex items-center gap-3 text-sm">
            <Find />
            <Who />
            <Theme />
          </div>
        </div>
      </header>
      <Reached />
      <main id="main" className="mx-auto w-full max-w-6xl flex-1 px-4 py-8 sm:px-6">
        <Outlet />
      </main>
      <Footer />
    </div>
  );
}

/** Which version answers, its license, and its API for programs. */
function Footer() {
  const { data } = useQuery({
    queryKey: ["health"],
    queryFn: () => answer(api.GET("/api/v1/health")),
    staleTime: Infinity,
  });
  return (
    <footer className="border-t border-line">
      <p className="mx-auto flex max-w-6xl flex-wrap gap-x-5 gap-y-1 px-4 py-4 text-xs text-muted sm:px-6">
        <span>MLModelScope {data?.version}</span>
        <a href="/docs/">Documentation</a>
        <a href="/api/v1/openapi.json">API (OpenAPI)</a>
        <span>License: Apache-2.0</span>
      </p>
    </footer>
  );
}

/** Says so while the server does not answer; what is on the page stays. */
function Reached() {
  const reached = useReached();
  useQuery({
    queryKey: ["reached"],
    queryFn: () => answer(api.GET("/api/v1/health")),
    enabled: !reached,
    refetchInterval: 2000,
    retry: false,
  });
  const queries = useQueryClient();
  useEffect(() => {
    if (reached) void queries.refetchQueries({ predicate: (query) => query.state.status !== "success" });
  }, [reached, queries]);
  if (reached) return null;
  return (
    <p role="alert" className="bg-warn-soft px-4 py-2 text-center text-sm text-warn">
      The server is not responding. You see its last answer; retrying.
    </p>
  );
}

/** Who one is to the server; null where it does not know. */
export function useMe() {
  return useQuery({
    queryKey: ["me"],
    queryFn: () => answer(api.GET("/api/v1/whoami")),
    retry: false,
    staleTime: 60_000,
  });
}

export function useMay(scope: Schemas["Somebody"]["scopes"][number]): boolean {
  const { data } = useMe();
  return data ? data.scopes.includes(scope) || data.scopes.includes("admin") : false;
}

function InBasket() {
  const { length } = useBasket();
  if (!length) return null;
  return (
    <>
      {" "}
      <span className="rounded-full bg-accent-soft px-1.5 py-0.5 text-xs font-medium text-accent">
        {length}
        <span className="sr-only"> chosen</span>
      </span>
    </>
  );
}

function Who() {
  const { data } = useMe();
  return (
    <Link to={data ? "/account" : "/sign-in"} className="text-muted">
      {data ? data.owner : "Sign in"}
    </Link>
  );
}

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("mlmodelscope.theme") ?? "system");
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (system.matches ? "dark" : "light") : theme;
    };
    apply();
    localStorage.setItem("mlmodelscope.theme", theme);
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [theme]);
  return (
    <label className="text-muted">
      <span className="sr-only">Colors</span>
      <select
        value={theme}
        onChange={(event) => setTheme(event.target.value)}
        className="rounded-md border border-line bg-card px-1.5 py-1 text-xs"
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
