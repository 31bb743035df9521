import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { router } from "./router";
import { JobWatch } from "./shown/job-watch";
import "./theme.css";

const again = (count: number, error: unknown): boolean =>
  error instanceof Problem && (error.status === 0 || error.status >= 500) ? count < 30 : false;

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      if (error instanceof Problem && error.status === 401 && location.pathname !== "/sign-in")
        void router.navigate({ to: "/sign-in" });
    },
  }),
  defaultOptions: {
    queries: { retry: again, retryDelay: (count) => Math.min(500 * 2 ** count, 5000), staleTime: 5000 },
  },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
      <JobWatch />
    </QueryClientProvider>
  </StrictMode>,
);
