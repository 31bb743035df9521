/** Where one begins: what this is for, four ways in, and what happened lately. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answer, api } from "../../api/client";
import { Heading } from "../../ui/parts";
import { Lately } from "./lately";

export function Home() {
  const one = { params: { query: { limit: 1 } } };
  const claims = useQuery({
    queryKey: ["published", "total"],
    queryFn: async () => (await answer(api.GET("/api/v1/published-claims", one))).total,
    staleTime: 60_000,
  });
  const models = useQuery({
    queryKey: ["models", "total"],
    queryFn: async () => (await answer(api.GET("/api/v1/models", one))).total,
    staleTime: 60_000,
  });
  return (
    <>
      <Heading
        title="Does the published number hold?"
        about="MLModelScope evaluates shared models from text manifests, compares what it measures with what was claimed, and names the detail that explains a gap."
      />
      <ul className="mb-8 grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <Way title="Check a claim" to="/replications">
          {counted(claims.data, "published number")}: see which hold, and check one yourself.
        </Way>
        <Way title="Try a model" to="/models">
          {counted(models.data, "model")} that run here: choose one and give it a picture, a sound, or a text.
        </Way>
        <Way title="Evaluate a model" to="/new">
          Measure accuracy and latency on a dataset, here or on another machine.
        </Way>
        <Way title="Add a model" to="/manifests/edit">
          Write a manifest with help, or begin with a model file.
        </Way>
      </ul>
      <Lately />
    </>
  );
}

const counted = (count: number | undefined, word: string): string =>
  count === undefined
    ? `${word.charAt(0).toUpperCase()}${word.slice(1)}s`
    : `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function Way({ title, to, children }: { title: string; to: string; children: ReactNode }) {
  return (
    <li className="relative rounded-xl border border-line bg-card p-4 hover:border-accent">
      <h2 className="text-base">
        <Link to={to} className="text-accent after:absolute after:inset-0">
          {title}
        </Link>
      </h2>
      <p className="mt-1.5 text-sm text-muted">{children}</p>
    </li>
  );
}
