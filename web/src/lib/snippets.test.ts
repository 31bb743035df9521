import { expect, test } from "vitest";
import { commandLine, curl, python, quoted, snippetsOf } from "./snippets";

const ASKED = { server: "http://127.0.0.1:8100", model: "net@1.0.0", dataset: "set", trains: false, hasToken: false };

test("a command names model, dataset and server", () => {
  expect(commandLine(ASKED)).toBe("mlmodelscope evaluate net@1.0.0 set --server http://127.0.0.1:8100");
  expect(commandLine({ ...ASKED, dataset: null, trains: true })).toBe(
    "mlmodelscope train net@1.0.0 --server http://127.0.0.1:8100",
  );
});

test("a token comes from the environment and never stands in the code", () => {
  for (const { code } of snippetsOf({ ...ASKED, hasToken: true })) expect(code).toContain("MLMODELSCOPE_TOKEN");
  for (const { code } of snippetsOf(ASKED)) expect(code).not.toContain("TOKEN");
});

test("what a manifest names cannot leave its quotes", () => {
  const dataset = `x'; rm -rf ~ #"`;
  expect(quoted(dataset)).toBe(`'x'\\''; rm -rf ~ #"'`);
  expect(commandLine({ ...ASKED, dataset })).toContain(quoted(dataset));
  expect(python({ ...ASKED, dataset })).toContain(`"x'; rm -rf ~ #\\""`);
  expect(curl({ ...ASKED, dataset })).toContain(`'{"kind":"evaluate","model":"net@1.0.0","dataset":"x'\\''; rm`);
});
