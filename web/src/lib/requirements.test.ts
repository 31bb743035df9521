import { expect, test } from "vitest";
import { differencesOf, lockOf, packagesOf } from "./requirements";

test("a package is told with its version and its hashes", () => {
  expect(packagesOf(["numpy==1.26.4\n  --hash=sha256:aa --hash=sha256:bb", "torch[cpu] >=2", "wheel"])).toEqual([
    { name: "numpy", version: "1.26.4", pinned: true, hashes: 2 },
    { name: "torch[cpu]", version: ">=2", pinned: false, hashes: 0 },
    { name: "wheel", version: "", pinned: false, hashes: 0 },
  ]);
  expect(packagesOf(undefined)).toEqual([]);
  expect(packagesOf(["numpy==1.*", 'x==1.0; python_version < "3"'])[0]!.pinned).toBe(false);
  expect(packagesOf(['x==1.0; python_version < "3"'])[0]!.version).toBe("1.0");
});

test("a lock is as firm as its loosest package", () => {
  expect(lockOf([])).toBe("none");
  expect(lockOf(packagesOf(["a==1 --hash=sha256:aa"]))).toBe("every package by version and hash");
  expect(lockOf(packagesOf(["a==1 --hash=sha256:aa", "b==2"]))).toBe("by version, 1 also by hash");
  expect(lockOf(packagesOf(["a==1", "b"]))).toBe("1 of 2 by version");
});

test("two stacks differ in versions and in what only one of them has", () => {
  const left = packagesOf(["Foo_Bar==1", "same==1", "only-left==3"]);
  const right = packagesOf(["foo-bar==2", "same==1", "any"]);
  expect(differencesOf(left, right)).toEqual([
    { name: "any", left: "–", right: "any" },
    { name: "foo-bar", left: "1", right: "2" },
    { name: "only-left", left: "3", right: "–" },
  ]);
});
