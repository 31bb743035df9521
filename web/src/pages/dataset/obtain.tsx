/** How to come by a dataset whose files this server does not have. */
import { Link } from "@tanstack/react-router";
import type { Problem } from "../../api/client";
import { bytes } from "../../lib/format";
import { asPage } from "../../lib/takes";
import { Copyable } from "../../ui/copy";
import { Card } from "../../ui/parts";

interface Connect {
  page?: string;
  steps?: string[];
  archives?: { url: string; size_bytes?: number; checksum?: string }[];
}

export function Obtain({ name, manifest, why }: { name: string; manifest: Record<string, unknown>; why: Problem }) {
  const connect = manifest.connect as Connect | undefined;
  if (!connect)
    return (
      <Card title="Samples">
        <p className="text-sm text-muted [overflow-wrap:anywhere]">{why.message.split("\n")[0]}</p>
        <p className="mt-2 text-sm">
          <Link to="/new" search={{ dataset: name, limit: "1" }}>
            Evaluate a model on one sample of it
          </Link>{" "}
          to have it fetched.
        </p>
      </Card>
    );
  return (
    <Card title="How to obtain it" aside="not connected on this server">
      <div className="space-y-4 text-sm">
        <p className="[overflow-wrap:anywhere]">
          Its files come from its publisher: <Address text={connect.page ?? ""} />
        </p>
        {(connect.archives ?? []).length > 0 && (
          <ul className="space-y-1 [overflow-wrap:anywhere]" aria-label="Files">
            {connect.archives!.map((each) => (
              <li key={each.url}>
                <Address text={each.url} />
                {each.size_bytes != null && <span className="text-muted">{`, ${bytes(each.size_bytes)}`}</span>}
              </li>
            ))}
          </ul>
        )}
        <ol className="list-decimal space-y-1 pl-5">
          {(connect.steps ?? []).map((step) => (
            <li key={step}>{step}</li>
          ))}
          <li>tell the server where the folder is:</li>
        </ol>
        <Copyable code={`mlmodelscope datasets connect ${name} FOLDER`} name="Connect it" />
      </div>
    </Card>
  );
}

function Address({ text }: { text: string }) {
  const page = asPage(text);
  if (!page) return text;
  return (
    <a href={page.href} target="_blank" rel="noopener noreferrer" className="underline">
      {text}
    </a>
  );
}
