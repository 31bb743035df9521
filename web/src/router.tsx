/** Every page has an address, and what is chosen on it is in that address: a link shows others the same. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { Agents } from "./pages/agents";
import { EvaluationPage } from "./pages/evaluation";
import { Evaluations } from "./pages/evaluations";
import { NotFound } from "./pages/not-found";
import { SignIn } from "./pages/sign-in";
import { Shell } from "./ui/shell";
import { Trouble } from "./ui/parts";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Trouble error={error} again={reset} />,
});

/** Those parts of an address that a page understands, where they are texts. */
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } =>
    Object.fromEntries(
      names.filter((name) => typeof search[name] === "string" && search[name]).map((name) => [name, search[name]]),
    ) as { [name in Name]?: string };

/** The same with a window of time, which is two numbers. */
const withWindow =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } & { from?: number; to?: number } => ({
    ...texts(...names)(search),
    ...(Number.isFinite(search.from) ? { from: search.from as number } : {}),
    ...(Number.isFinite(search.to) ? { to: search.to as number } : {}),
  });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/models" });
  },
});
const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  validateSearch: texts("q", "task", "framework", "licence", "verdict", "sort"),
  component: lazyRouteComponent(() => import("./pages/models"), "Models"),
});
const model = createRoute({
  getParentRoute: () => root,
  path: "/models/$name",
  validateSearch: texts("version"),
  component: lazyRouteComponent(() => import("./pages/model"), "ModelPage"),
});
const record = createRoute({
  getParentRoute: () => root,
  path: "/records/$id",
  validateSearch: texts("only", "tab"),
  component: lazyRouteComponent(() => import("./pages/record"), "RecordPage"),
});
const fresh = createRoute({
  getParentRoute: () => root,
  path: "/new",
  validateSearch: texts("model", "dataset"),
  component: lazyRouteComponent(() => import("./pages/new"), "NewEvaluation"),
});
const evaluations = createRoute({
  getParentRoute: () => root,
  path: "/evaluations",
  validateSearch: texts("state", "model", "agent"),
  component: Evaluations,
});
const evaluation = createRoute({ getParentRoute: () => root, path: "/evaluations/$id", component: EvaluationPage });
const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: texts("records"),
  component: lazyRouteComponent(() => import("./pages/compare"), "Compare"),
});
const traces = createRoute({
  getParentRoute: () => root,
  path: "/traces",
  validateSearch: texts("model", "record"),
  component: lazyRouteComponent(() => import("./pages/traces"), "Traces"),
});
const traceBeside = createRoute({
  getParentRoute: () => root,
  path: "/traces/compare",
  validateSearch: withWindow("left", "right", "level", "align"),
  component: lazyRouteComponent(() => import("./pages/trace/beside"), "TracesBeside"),
});
const trace = createRoute({
  getParentRoute: () => root,
  path: "/traces/$id",
  validateSearch: withWindow("level", "q", "tab", "span"),
  component: lazyRouteComponent(() => import("./pages/trace"), "TracePage"),
});
const agents = createRoute({ getParentRoute: () => root, path: "/agents", component: Agents });
const signIn = createRoute({ getParentRoute: () => root, path: "/sign-in", component: SignIn });

export const router = createRouter({
  routeTree: root.addChildren([
    ...[home, models, model, record, fresh, evaluations, evaluation],
    ...[compare, traces, traceBeside, trace, agents, signIn],
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
