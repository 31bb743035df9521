/** A new token, shown this once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { Select, Text } from "../../ui/field";
import { Button, Trouble } from "../../ui/parts";

type Scope = Schemas["Somebody"]["scopes"][number];
const SCOPES: Scope[] = ["read", "run", "agent", "trust", "admin"];

export function MakeToken({ me, isAdmin }: { me: Schemas["Somebody"]; isAdmin: boolean }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [owner, setOwner] = useState(me.owner);
  const [days, setDays] = useState("90");
  const offered = isAdmin ? SCOPES : SCOPES.filter((each) => me.scopes.includes(each));
  const [scopes, setScopes] = useState<Scope[]>(["read"]);
  const make = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/v1/tokens", {
          body: { name, owner: isAdmin ? owner : undefined, scopes, days: days ? Number(days) : undefined },
        }),
      ),
    onSuccess: () => {
      setName("");
      return queries.invalidateQueries({
        predicate: ({ queryKey }) => ["tokens", "audit"].includes(String(queryKey[0])),
      });
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    make.mutate();
  }
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope]);
  return (
    <form onSubmit={submit} className="mt-5 space-y-4 border-t border-line pt-4">
      <h3 className="text-sm font-medium">Make a token</h3>
      <div className="grid gap-4 sm:grid-cols-3">
        <Text label="Name" value={name} onChange={setName} placeholder="laptop" />
        {isAdmin && <Text label="Owner" value={owner} onChange={setOwner} />}
        <Select
          label="Expires after"
          value={days}
          onChange={setDays}
          options={[
            ["7", "7 days"],
            ["30", "30 days"],
            ["90", "90 days"],
            ["365", "a year"],
            ["", isAdmin ? "never" : "your own token does"],
          ]}
        />
      </div>
      <fieldset className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
        <legend className="mb-1 font-medium">Scopes</legend>
        {offered.map((scope) => (
          <label key={scope} className="flex items-center gap-2">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> {scope}
          </label>
        ))}
      </fieldset>
      <Button
        kind="main"
        type="submit"
        disabled={make.isPending || !name.trim() || !scopes.length || (isAdmin && !owner.trim())}
      >
        Make token
      </Button>
      {make.error && <Trouble error={make.error} />}
      {make.data && (
        <div role="status" className="rounded-lg border border-line bg-good-soft p-4 text-sm">
          <p className="mb-2 font-medium text-good">Copy the token now. It is not shown again.</p>
          <code className="[overflow-wrap:anywhere]">{make.data.token}</code>
          <Button
            className="mt-2 block"
            onClick={() => make.data && void navigator.clipboard?.writeText(make.data.token)}
          >
            Copy
          </Button>
        </div>
      )}
    </form>
  );
}
