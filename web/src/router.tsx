/** Every page has an address, and what is chosen on it is in that address: a link shows others the same. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Agents } from "./pages/agents";
import { EvaluationPage } from "./pages/evaluation";
import { Evaluations } from "./pages/evaluations";
import { FIELDS } from "./pages/new/request";
import { NAMES as RECORD_LOOK } from "./pages/records/search";
import { readLook } from "./pages/record/look";
import { NotFound } from "./pages/not-found";
import { SignIn } from "./pages/sign-in";
import { Shell } from "./ui/shell";
import { Trouble } from "./ui/parts";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <Trouble error={error} again={reset} />,
});

/** Those parts of an address that a page understands, as texts: `?limit=8` is a number to the router. */
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } => {
    const known = names.filter(
      (name) => ["string", "number", "boolean"].includes(typeof search[name]) && search[name] !== "",
    );
    return Object.fromEntries(known.map((name) => [name, String(search[name])])) as { [name in Name]?: string };
  };

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
  component: lazyRouteComponent(() => import("./pages/home"), "Home"),
});
const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  validateSearch: texts("q", "task", "framework", "architecture", "license", "verdict", "sort"),
  component: lazyRouteComponent(() => import("./pages/models"), "Models"),
});
const model = createRoute({
  getParentRoute: () => root,
  path: "/models/$name",
  validateSearch: texts("version"),
  component: lazyRouteComponent(() => import("./pages/model"), "ModelPage"),
});
const layers = createRoute({
  getParentRoute: () => root,
  path: "/models/$name/layers",
  validateSearch: texts("version", "view", "layer"),
  component: lazyRouteComponent(() => import("./pages/layers"), "LayersPage"),
});
const datasets = createRoute({
  getParentRoute: () => root,
  path: "/datasets",
  validateSearch: texts("q", "task", "format", "license", "sort"),
  component: lazyRouteComponent(() => import("./pages/datasets"), "Datasets"),
});
const dataset = createRoute({
  getParentRoute: () => root,
  path: "/datasets/$name",
  validateSearch: texts("version"),
  component: lazyRouteComponent(() => import("./pages/dataset"), "DatasetPage"),
});
const stacks = createRoute({
  getParentRoute: () => root,
  path: "/stacks",
  validateSearch: texts("q", "compare"),
  component: lazyRouteComponent(() => import("./pages/stacks"), "Stacks"),
});
const records = createRoute({
  getParentRoute: () => root,
  path: "/records",
  validateSearch: texts(...RECORD_LOOK),
  component: lazyRouteComponent(() => import("./pages/records"), "RecordList"),
});
const leaderboards = createRoute({
  getParentRoute: () => root,
  path: "/leaderboards",
  validateSearch: texts("dataset", "board", "q", "start"),
  component: lazyRouteComponent(() => import("./pages/leaderboards"), "Leaderboards"),
});
const record = createRoute({
  getParentRoute: () => root,
  path: "/records/$id",
  validateSearch: readLook,
  component: lazyRouteComponent(() => import("./pages/record"), "RecordPage"),
});
const tryIt = createRoute({
  getParentRoute: () => root,
  path: "/try",
  validateSearch: texts("models"),
  component: lazyRouteComponent(() => import("./pages/try"), "TryPage"),
});
const fresh = createRoute({
  getParentRoute: () => root,
  path: "/new",
  validateSearch: texts(...FIELDS),
  component: lazyRouteComponent(() => import("./pages/new"), "NewEvaluation"),
});
const evaluations = createRoute({
  getParentRoute: () => root,
  path: "/evaluations",
  validateSearch: texts("state", "model", "agent", "request", "q", "since", "until"),
  component: Evaluations,
});
const evaluation = createRoute({ getParentRoute: () => root, path: "/evaluations/$id", component: EvaluationPage });
const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: texts("records"),
  component: lazyRouteComponent(() => import("./pages/compare"), "Compare"),
});
const replications = createRoute({
  getParentRoute: () => root,
  path: "/replications",
  validateSearch: texts("q", "verdict"),
  component: lazyRouteComponent(() => import("./pages/replications"), "Replications"),
});
const newReplication = createRoute({
  getParentRoute: () => root,
  path: "/replications/new",
  validateSearch: texts("model", "dataset", "claim", "kind"),
  component: lazyRouteComponent(() => import("./pages/replications/new"), "NewReplication"),
});
const replication = createRoute({
  getParentRoute: () => root,
  path: "/replications/$id",
  validateSearch: texts("kind"),
  component: lazyRouteComponent(() => import("./pages/replications/one"), "ReplicationPage"),
});
const sensitivity = createRoute({
  getParentRoute: () => root,
  path: "/sensitivities/$id",
  component: lazyRouteComponent(() => import("./pages/sensitivity"), "SensitivityPage"),
});
const editor = createRoute({
  getParentRoute: () => root,
  path: "/manifests/edit",
  validateSearch: texts("kind", "name", "version", "record"),
  component: lazyRouteComponent(() => import("./pages/manifest-editor"), "ManifestEditor"),
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
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$id",
  component: lazyRouteComponent(() => import("./pages/agent"), "AgentPage"),
});
const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: lazyRouteComponent(() => import("./pages/account"), "Account"),
});
const signIn = createRoute({ getParentRoute: () => root, path: "/sign-in", component: SignIn });

export const router = createRouter({
  routeTree: root.addChildren([
    ...[home, models, model, layers, datasets, dataset, stacks, agents, agent, tryIt],
    ...[fresh, evaluations, evaluation, records, leaderboards, record, compare, traces, traceBeside, trace],
    ...[replications, newReplication, replication, sensitivity, editor, account, signIn],
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
