import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { answer, api, token } from "../api/client";
import { Badge, Button, Card, Heading, Trouble } from "../ui/parts";
import { useMe } from "../ui/shell";

export function SignIn() {
  const me = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [secret, setSecret] = useState("");
  const [forLong, setForLong] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function enter(event: FormEvent) {
    event.preventDefault();
    const before = token.read();
    token.keep(secret.trim(), forLong);
    try {
      await answer(api.GET("/api/v1/whoami"));
      await queries.invalidateQueries();
      await navigate({ to: "/models" });
    } catch (problem) {
      token.forget();
      if (before) token.keep(before, false);
      setError(problem);
    }
  }

  async function leave() {
    token.forget();
    await queries.resetQueries();
  }

  return (
    <div className="mx-auto max-w-lg">
      <Heading
        title={me.data ? `Signed in as ${me.data.owner}` : "Sign in"}
        about="A token identifies you and grants permissions. The administrator creates one with mlmodelscope token make."
      />
      {me.data && (
        <Card title="Permissions" className="mb-6">
          <p className="flex flex-wrap gap-2">
            {me.data.scopes.map((scope) => (
              <Badge key={scope} tone="accent">
                {scope}
              </Badge>
            ))}
          </p>
          {token.read() && (
            <Button className="mt-4" onClick={() => void leave()}>
              Sign out
            </Button>
          )}
        </Card>
      )}
      <Card title={me.data ? "Switch account" : undefined}>
        <form onSubmit={(event) => void enter(event)} className="space-y-4">
          <label className="block text-sm">
            <span className="mb-1 block font-medium">Token</span>
            <input
              type="password"
              autoComplete="current-password"
              required
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
              className="w-full rounded-lg border border-line bg-paper px-3 py-2 font-mono"
              placeholder="mlms_…"
            />
          </label>
          <label className="flex items-center gap-2 text-sm">
            <input type="checkbox" checked={forLong} onChange={(event) => setForLong(event.target.checked)} /> Remember
            it on this machine
          </label>
          {error !== null && <Trouble error={error} />}
          <Button kind="main" type="submit">
            Sign in
          </Button>
        </form>
      </Card>
    </div>
  );
}
