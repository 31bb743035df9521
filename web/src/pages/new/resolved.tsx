/** Who could do it, or what stands in the way; and what is known already. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { ago, plural, time } from "../../lib/format";
import { spelled } from "../../lib/measured";
import { Badge, Card } from "../../ui/parts";

export function Resolved({ of }: { of: Schemas["Resolution"] }) {
  return (
    <>
      {of.matching.length ? <Matching of={of} /> : <Obstacles of={of} />}
      {of.earlier.length > 0 && <Earlier of={of.earlier} />}
    </>
  );
}

function Matching({ of }: { of: Schemas["Resolution"] }) {
  return (
    <Card title="Who can do it" aside={`${of.matching.length} of ${plural(of.agents, "agent")}`}>
      <ul className="space-y-1 text-sm">
        {of.matching.map((agent) => (
          <li key={agent}>
            <Link to="/agents/$id" params={{ id: agent }}>
              {agent}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Obstacles({ of }: { of: Schemas["Resolution"] }) {
  return (
    <Card title="Nobody can do it">
      <ul className="space-y-3 text-sm">
        {of.obstacles.map((each) => (
          <li key={each.constraint}>
            <Badge tone="bad">{each.constraint}</Badge>
            <p className="mt-1">{each.example}</p>
            <p className="text-muted">
              {each.would_match
                ? `${plural(each.would_match, "agent")} would fit without it`
                : `${each.agents} of ${plural(of.agents, "agent")} cannot, and other constraints stand in the way as well`}
            </p>
          </li>
        ))}
        {!of.obstacles.length && <li className="whitespace-pre-line">{of.text}</li>}
      </ul>
    </Card>
  );
}

function Earlier({ of }: { of: Schemas["Earlier"][] }) {
  return (
    <Card title="Known already" aside={of.some((each) => each.exact) && "so nothing need run"}>
      <ul className="space-y-3 text-sm">
        {of.map((each) => (
          <li key={each.record}>
            <Link to="/records/$id" params={{ id: each.record }} className="font-medium">
              {each.headline
                ? `${each.headline.title} ${spelled(each.headline.value, each.headline.unit)}`
                : plural(each.samples, "sample")}
            </Link>{" "}
            <Badge tone={each.exact ? "good" : "plain"}>{each.exact ? "the same" : "nearly the same"}</Badge>
            <p className="text-muted">
              {each.stack}, {each.cpu}
              {each.latency_s != null && `, ${time(1e9 * each.latency_s)}`}
              {each.finished_at && `, ${ago(each.finished_at)}`}
            </p>
            {each.differs.length > 0 && <p className="text-muted">{each.differs.join("; ")}</p>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
