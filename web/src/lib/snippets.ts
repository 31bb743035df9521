/** Code that asks this server about a model, to be copied: a command line, Python, and curl. Each runs as it is. */

export interface Asked {
  /** Where the server is: `https://lab.example:8100`. */
  server: string;
  /** With its version: `resnet50@1.0.0`. */
  model: string;
  /** None where the model names one by itself. */
  dataset: string | null;
  trains: boolean;
  /** Whether whoever copies it is known by a token, which is then taken from the environment. */
  hasToken: boolean;
}

export interface Snippet {
  name: string;
  code: string;
}

export function snippetsOf(asked: Asked): Snippet[] {
  return [
    { name: "Command line", code: commandLine(asked) },
    { name: "Python", code: python(asked) },
    { name: "curl", code: curl(asked) },
  ];
}

export function commandLine({ server, model, dataset, trains, hasToken }: Asked): string {
  const words = ["mlmodelscope", trains ? "train" : "evaluate", quoted(model), ...(dataset ? [quoted(dataset)] : [])];
  const token = hasToken ? ' --token "$MLMODELSCOPE_TOKEN"' : "";
  return `${words.join(" ")} --server ${quoted(server)}${token}`;
}

export function python({ server, model, dataset, trains, hasToken }: Asked): string {
  const given = [spelled(model), ...(dataset ? [spelled(dataset)] : [])];
  const token = hasToken ? ', os.environ["MLMODELSCOPE_TOKEN"]' : "";
  return [
    ...(hasToken ? ["import os", ""] : []),
    "import mlmodelscope",
    "",
    `with mlmodelscope.connect(${spelled(server)}${token}) as server:`,
    trains
      ? `    (training,) = server.ask(${dictionary(request(model, dataset, trains))})\n    record = training.record()`
      : `    record = server.evaluate(${given.join(", ")})`,
    "for name, number in record.metrics.items():",
    "    print(name, number.value, number.low, number.high)",
  ].join("\n");
}

export function curl({ server, model, dataset, trains, hasToken }: Asked): string {
  return [
    `curl --fail-with-body ${quoted(`${server}/api/v1/requests`)}`,
    "-H 'Content-Type: application/json'",
    ...(hasToken ? ['-H "Authorization: Bearer $MLMODELSCOPE_TOKEN"'] : []),
    `-d ${quoted(JSON.stringify(request(model, dataset, trains)))}`,
  ].join(" \\\n  ");
}

function request(model: string, dataset: string | null, trains: boolean): Record<string, string> {
  return { kind: trains ? "train" : "evaluate", model, ...(dataset ? { dataset } : {}) };
}

/** As one word of a shell, whatever is in it. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** As a text of Python: JSON's texts are ones of Python, too. */
const spelled = (text: string): string => JSON.stringify(text);

const dictionary = (values: Record<string, string>): string =>
  `{${Object.entries(values)
    .map(([key, value]) => `${spelled(key)}: ${spelled(value)}`)
    .join(", ")}}`;
