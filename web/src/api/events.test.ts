import { expect, it } from "vitest";
import { type Happening, parse } from "./events";

function stream(...pieces: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
}

it("puts events together, however they were cut", async () => {
  const found: Happening[] = [];
  const pieces = [
    'id: 1\nevent: progress\ndata: {"number": 1, "ki',
    'nd": "progress", "done": 3}\n',
    '\n: still here\n\nid: 2\ndata: {"number": 2, "kind": "finished"}\n\n',
  ];
  for await (const event of parse(stream(...pieces))) found.push(event);
  expect(found.map((event) => event.kind)).toEqual(["progress", "finished"]);
  expect(found[0]?.done).toBe(3);
});
