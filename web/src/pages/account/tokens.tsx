/** Tokens: made with scopes and an end, shown once, revoked. Administrators see those of everybody, by person. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api, type Schemas, token } from "../../api/client";
import { plural } from "../../lib/format";
import { Badge, Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { When } from "../../ui/when";
import { MakeToken } from "./make-token";

type Token = Schemas["Token"];
const KEY = ["tokens"];

export function Tokens({ me, isAdmin }: { me: Schemas["Somebody"]; isAdmin: boolean }) {
  const found = useQuery({ queryKey: KEY, queryFn: () => answer(api.GET("/api/v1/tokens")) });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const own = found.data.items.filter((each) => each.owner === me.owner);
  const mayMake = isAdmin || (me.scopes.includes("run") && token.read() !== null);
  return (
    <>
      <Card title="Your tokens">
        {own.length ? <TokenTable name="Your tokens" rows={own} /> : <Empty>You have no tokens.</Empty>}
        {mayMake ? (
          <MakeToken me={me} isAdmin={isAdmin} />
        ) : (
          <p className="mt-4 text-sm text-muted">
            Make one on the server with <code>mlmodelscope token make --owner NAME --scope read --scope run</code>.
          </p>
        )}
      </Card>
      {isAdmin && (
        <>
          <People tokens={found.data.items} />
          <Card title="All tokens">
            <TokenTable name="All tokens" rows={found.data.items} withOwner />
          </Card>
        </>
      )}
    </>
  );
}

/** People are known by their tokens. */
function People({ tokens }: { tokens: Token[] }) {
  const owners = [...new Set(tokens.map((each) => each.owner))].sort();
  return (
    <Card title="People">
      <Table
        name="People"
        stacked
        rows={owners}
        identity={(owner) => owner}
        columns={[
          { title: "Name", cell: (owner) => <span className="font-medium">{owner}</span> },
          {
            title: "May",
            cell: (owner) => <Scopes of={[...new Set(of(tokens, owner).flatMap((each) => each.scopes))]} />,
          },
          { title: "Tokens", right: true, cell: (owner) => plural(of(tokens, owner).length, "token") },
        ]}
      />
    </Card>
  );
}

const of = (tokens: Token[], owner: string) => tokens.filter((each) => each.owner === owner);

function Scopes({ of: scopes }: { of: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {scopes.map((scope) => (
        <Badge key={scope}>{scope}</Badge>
      ))}
    </span>
  );
}

function TokenTable({ name, rows, withOwner = false }: { name: string; rows: Token[]; withOwner?: boolean }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: (identity: string) =>
      answer(api.DELETE("/api/v1/tokens/{identity}", { params: { path: { identity } } })),
    onSettled: () =>
      queries.invalidateQueries({ predicate: ({ queryKey }) => ["tokens", "audit"].includes(String(queryKey[0])) }),
  });
  return (
    <>
      <Table
        name={name}
        stacked
        rows={rows}
        identity={(row) => row.id}
        columns={[
          { title: "Name", cell: (row) => <span title={row.id}>{row.name || row.id}</span> },
          ...(withOwner ? [{ title: "Owner", cell: (row: Token) => row.owner }] : []),
          { title: "Scopes", cell: (row) => <Scopes of={row.scopes} /> },
          { title: "Made", cell: (row) => <When at={row.created_at} /> },
          { title: "Last used", cell: (row) => (row.used_at ? <When at={row.used_at} /> : "never") },
          { title: "Expires", cell: (row) => (row.expires_at ? <When at={row.expires_at} /> : "never") },
          {
            title: "Actions",
            right: true,
            cell: (row) => (
              <Button
                kind="danger"
                className="!px-2 !py-0.5 !text-xs"
                aria-label={`Revoke ${row.name || row.id}`}
                disabled={revoke.isPending}
                onClick={() =>
                  window.confirm(`Revoke ${row.name || row.id}? Programs that use it are refused at once.`) &&
                  revoke.mutate(row.id)
                }
              >
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {revoke.error && (
        <div className="mt-3">
          <Trouble error={revoke.error} />
        </div>
      )}
    </>
  );
}
