/** What does it say of this? One model, on its own page. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Trust } from "../../../shown/trust";
import { Card } from "../../../ui/parts";
import { useMay } from "../../../ui/shell";
import { Answer } from "./answer";
import type { Chosen } from "./ask";
import { Chat } from "./chat";
import { writeChosen } from "./chosen";
import { carriesCode, type Given, handOver, wantsOf } from "./given";
import { GiveInput } from "./input";
import { useManifest } from "./manifest";
import { hasTemplate, isLanguageModel } from "./prompt";
import { Where } from "./where";

export function TryIt({ model, version }: { model: string; version: string }) {
  const may = useMay("run");
  const { manifest } = useManifest(model, version);
  const [given, setGiven] = useState<Given | null>(null);
  const [where, setWhere] = useState<Pick<Chosen, "stack" | "agent">>({});
  const [trust, setTrust] = useState(false);
  const said = manifest?.manifest as Record<string, unknown> | undefined;
  if (!may || !said || said.job_type === "training") return null;
  const chosen: Chosen = { ...where, model, version };
  const needsTrust = carriesCode(said);
  if (isLanguageModel(said))
    return (
      <Card title="Chat">
        <div className="space-y-4">
          {needsTrust && <Trust trust={trust} onChange={setTrust} />}
          <Chat chosen={chosen} trust={needsTrust && trust} template={hasTemplate(said)} />
          <Where
            chosen={chosen}
            framework={manifest?.framework}
            onChange={({ stack, agent }) => setWhere({ stack, agent })}
          />
        </div>
      </Card>
    );
  return (
    <Card
      title="Try it"
      aside={
        <Link to="/try" search={{ models: writeChosen([chosen]) }} onClick={() => handOver(given)}>
          beside other models
        </Link>
      }
    >
      <div className="grid grid-cols-1 gap-6 md:grid-cols-2">
        <div className="space-y-3">
          {needsTrust && <Trust trust={trust} onChange={setTrust} />}
          <GiveInput wants={wantsOf(said)} model={model} manifest={said} onGiven={setGiven} />
          <Where
            chosen={chosen}
            framework={manifest?.framework}
            onChange={({ stack, agent }) => setWhere({ stack, agent })}
          />
        </div>
        <Answer chosen={chosen} given={given} trust={needsTrust && trust} />
      </div>
    </Card>
  );
}
