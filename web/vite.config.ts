import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8642";

// The built pages lie in the Python package; `mlmodelscope serve` serves them.
export default defineConfig({
  plugins: [react(), tailwind()],
  build: { outDir: "../src/mlmodelscope/server/pages", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
  // A page from another address may not ask; while pages are worked on, they come from one.
  server: { proxy: { "/api": { target: SERVER, changeOrigin: true, headers: { Origin: SERVER } } } },
  test: { environment: "node" },
} as Parameters<typeof defineConfig>[0]);
