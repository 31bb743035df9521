"""Records of strangers whose tables hold what no evaluation writes: refused at the door, and nothing goes wrong."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from detector_world import write_detector
from mlmodelscope.record.record import Record
from mlmodelscope.record.samples import schema_of
from mlmodelscope.task.task import task_named

from .conftest import World
from .test_hostile_uploads import Guest, bundle

Row = dict[str, Any]


def score(facts: Any, told: Any = ()) -> bytes:
    """As `measure/pack.py` writes it, with whatever facts."""
    header = json.dumps([told, facts]).encode()
    return struct.pack("<I", len(header)) + header


def png(width: int, height: int, line: bytes | None = None) -> bytes:
    """A gray PNG; each row begins with the filter that takes longest to undo."""
    pixels = zlib.compress((line or b"\4" + bytes(width)) * height)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )


BOXES: Row = {
    "target": '{"areas": [1], "boxes": [[0, 0, 9, 9]], "classes": [0], "size": [48, 64]}',
    "classes": [0],
    "scores": [0.5],
    "boxes": [0.0, 0.0, 9.0, 9.0],
    "score": score({"quality": 0.5}),
}
MAP: Row = {"target": '{"mask": "a.png"}', "map": png(8, 8), "size": [8, 8], "no_class": 255, "score": score({})}
PICTURE: Row = {"target": '{"picture": "a.png"}', "picture": png(8, 8), "form": "png", "size": [8, 8, 1]}
LONG = 100 << 20
ODD: dict[str, tuple[str, Row]] = {
    "truth that is not JSON": ("object_detection", {**BOXES, "target": "=cmd|' /C calc'!A0"}),
    "truth that is a list": ("object_detection", {**BOXES, "target": "[1]"}),
    "truth that is deep": ("object_detection", {**BOXES, "target": "[" * 100_000}),
    "truth of words": ("object_detection", {**BOXES, "target": '{"boxes": [["<b>", 0, 1, 1]], "classes": [0]}'}),
    "truth without classes": ("object_detection", {**BOXES, "target": '{"boxes": [[0, 0, 1, 1]]}'}),
    "truth that is no number": ("object_detection", {**BOXES, "target": '{"boxes": [[NaN, 0, 1, 1]], "classes": [0]}'}),
    "a size of words": ("object_detection", {**BOXES, "target": '{"size": ["<script>", "x"]}'}),
    "a size of nothing": ("object_detection", {**BOXES, "target": '{"size": [0, -5]}'}),
    "truth that is long": ("object_detection", {**BOXES, "target": '{"a": "' + "x" * LONG + '"}'}),
    "a score that is empty": ("object_detection", {**BOXES, "score": b""}),
    "a score that is cut off": ("object_detection", {**BOXES, "score": b"\xff\xff\xff\x7f"}),
    "a score of lists": ("object_detection", {**BOXES, "score": score([])}),
    "a score that is deep": ("object_detection", {**BOXES, "score": struct.pack("<I", 200_000) + b"[" * 200_000}),
    "a quality that is no number": ("object_detection", {**BOXES, "score": score({"quality": float("nan")})}),
    "a quality beyond all floats": ("object_detection", {**BOXES, "score": score({"quality": 10**400})}),
    "a box that is no number": ("object_detection", {**BOXES, "boxes": [float("nan"), 0.0, 1.0, 1.0]}),
    "a score without end": ("object_detection", {**BOXES, "scores": [float("inf")]}),
    "boxes without scores": ("object_detection", {**BOXES, "scores": None}),
    "half a box": ("object_detection", {**BOXES, "boxes": [0.0, 0.0]}),
    "a map that explodes": ("semantic_segmentation", {**MAP, "map": png(8000, 8000), "size": [8000, 8000]}),
    "a map that is huge": ("semantic_segmentation", {**MAP, "map": png(8, 8) + bytes(LONG)}),
    "a map without a size": ("semantic_segmentation", {**MAP, "size": None, "no_class": None}),
    "a picture that is huge": ("image_enhancement", {**PICTURE, "picture": bytes(LONG)}),
    "a picture that explodes": (
        "image_enhancement",
        {**PICTURE, "picture": zlib.compress(bytes(4 * 7000 * 7000)), "form": "float", "size": [7000, 7000, 1]},
    ),
    "a picture of another size": ("image_enhancement", {**PICTURE, "form": "float", "size": [-1, 1 << 30, 1 << 30]}),
    "a picture without a size": ("image_enhancement", {**PICTURE, "form": "float", "size": None}),
}
SHOWN_WITHOUT = ("a map that explodes", "a picture that explodes", "a picture of another size")
"""Pictures are looked into when somebody wants to see them: then it is known that they cannot be shown."""


class Sender:
    """Somebody who pushes records to a server that takes them from anybody."""

    def __init__(self, world: World, record: Record) -> None:
        self.guest, self._record, self._count = Guest(world), record, 0

    def push(self, task: str, rows: list[Row]) -> tuple[int, str]:
        """(the status, the id)."""
        self._count += 1
        told = self._record.model_dump(mode="json")
        told |= {"id": f"20260101-000000-{self._count:06x}", "samples": len(rows)}
        told["plan"] |= {"task": task}
        schema = schema_of(task_named(task))
        plain = [{"id": f"{at}.png", "digest": "0" * 64, **row} for at, row in enumerate(rows)]
        out = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(plain, schema), out, compression="zstd")
        body = bundle(record_json=json.dumps(told).encode(), samples_parquet=out.getvalue())
        return self.guest.ask("POST", "/bundles", content=body).status_code, told["id"]

    def look(self, record: str) -> None:
        """At everything that the server shows of a record's samples."""
        for path in (
            "samples",
            "samples?q=cat",
            "samples?label=0",
            "samples?sort=quality",
            "shapes?sample=0.png",
            "report",
        ):
            self.guest.ask("GET", f"/records/{record}/{path}")


@pytest.fixture(scope="module")
def sender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sender]:
    world = World(tmp_path_factory.mktemp("world"))
    try:
        write_detector(world.place / "manifests")
        record = world.evaluate("finder", "things", home="elsewhere", timed_runs=1, warm_up_runs=0)
        world.serve(require_token=True, executor="none", accept="any")
        found = Sender(world, record)
        found.look(found.push("object_detection", [BOXES])[1])  # it has imported what it needs
        yield found
        assert "Traceback" not in world.log("server")
    finally:
        world.close()


@pytest.mark.parametrize(
    "row", [("object_detection", BOXES), ("semantic_segmentation", MAP), ("image_enhancement", PICTURE)]
)
def test_rows_as_an_evaluation_writes_them_are_taken_and_shown(sender: Sender, row: tuple[str, Row]) -> None:
    status, record = sender.push(row[0], [row[1]] * 3)
    assert status == 200
    seen = sender.guest.ask("GET", f"/records/{record}/shapes?sample=1.png").json()
    assert {"answer"} <= {each["side"] for each in seen["shapes"]}


@pytest.mark.parametrize("name", ODD)
def test_rows_as_no_evaluation_writes_them(sender: Sender, name: str) -> None:
    task, row = ODD[name]
    status, record = sender.push(task, [row])
    sender.look(record)
    assert status == (200 if name in SHOWN_WITHOUT else 400)
