import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The built pages lie in the Python package; `mlmodelscope serve` serves them.
export default defineConfig({
  plugins: [react(), tailwind()],
  build: { outDir: "../src/mlmodelscope/server/pages", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
  server: { proxy: { "/api": "http://127.0.0.1:8642" } },
  test: { environment: "node" },
} as Parameters<typeof defineConfig>[0]);
