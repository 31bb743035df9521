/** Who one is and what one may do, one's tokens, and for administrators everybody's, with the audit log. */
import { Link } from "@tanstack/react-router";
import { useQueryClient } from "@tanstack/react-query";
import { token } from "../../api/client";
import { Badge, Button, Card, Heading, LOOKS, Trouble, Waiting } from "../../ui/parts";
import { useMay, useMe } from "../../ui/shell";
import { AuditLog } from "./audit";
import { Tokens } from "./tokens";

export const MEANING: Record<string, string> = {
  read: "look at everything",
  run: "evaluate models, add manifests, tag and annotate records",
  agent: "do the work: take evaluations and hand records over",
  trust: "let code of manifests run",
  admin: "everything, and manage tokens, agents, and records",
};

export function Account() {
  const me = useMe();
  const isAdmin = useMay("admin");
  const mayRead = useMay("read");
  const queries = useQueryClient();
  if (me.isPending) return <Waiting />;
  if (!me.data)
    return (
      <>
        <Heading title="Account" />
        <Trouble error={me.error} />
        <Link to="/sign-in" className={`${LOOKS.main} mt-4`}>
          Sign in
        </Link>
      </>
    );
  const { owner, scopes } = me.data;
  return (
    <>
      <Heading
        title={`Signed in as ${owner}`}
        actions={
          <>
            {token.read() && (
              <Button
                onClick={() => {
                  token.forget();
                  void queries.resetQueries();
                }}
              >
                Sign out
              </Button>
            )}
            <Link to="/sign-in" className={LOOKS.plain}>
              {token.read() ? "Switch account" : "Sign in with a token"}
            </Link>
          </>
        }
      />
      <div className="space-y-6">
        <Card title="What you may do">
          <ul className="space-y-1.5 text-sm">
            {scopes.map((scope) => (
              <li key={scope}>
                <Badge tone="accent">{scope}</Badge> <span className="ml-1">{MEANING[scope]}</span>
              </li>
            ))}
          </ul>
        </Card>
        {mayRead && <Tokens me={me.data} isAdmin={isAdmin} />}
        {isAdmin && <AuditLog />}
      </div>
    </>
  );
}
