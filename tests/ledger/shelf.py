"""Stores full of records for tests: one real record, and others like it."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.record.record import new_record_id


@cache
def real() -> tuple[Record, dict[str, bytes]]:
    """A record as an evaluation makes it, and its files."""
    from PIL import Image

    with TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(6):
            (place / "pictures" / f"class{number % 3}").mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (9, 9), (number * 40, 9, 9)).save(
                place / "pictures" / f"class{number % 3}" / f"{number}.png"
            )
        (place / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
        steps = {"decode": None, "resize": {"dimensions": [8, 8]}, "mean": 127.5, "layout": "NCHW"}
        names = {"version": "1.0.0", "task": "classification"}
        model = load_manifest(
            {
                "name": "toy",
                **names,
                "framework": {"name": "fake"},
                "inputs": [{"type": "image", "processing": steps}],
                "outputs": [{"type": "logits", "processing": {"softmax": None}}],
                "source": {"graph_path": str(place / "toy.json")},
            }
        )
        sources = [{"url": str(place / "pictures")}]
        dataset = load_manifest({"name": "pictures", **names, "format": "folder", "sources": sources})
        settings = Settings(place / "home", place / "cache")
        record = evaluate(model, dataset, Options(timed_runs=1, warm_up_runs=1), settings=settings)  # type: ignore[arg-type]
        folder_of = place / "home" / "records" / record.id
        return record, {path.name: path.read_bytes() for path in folder_of.glob("*.parquet")}


def add(store: Store, days: float = 0, plan: str | None = None, trace: bool = False) -> Record:
    """Another one, finished some days ago."""
    base, files = real()
    moment = datetime.now(UTC) - timedelta(days=days)
    changes = {"id": new_record_id(moment), "created_at": moment, "finished_at": moment}
    record = base.model_copy(update={**changes, "plan_digest": plan or base.plan_digest})
    folder = store.files.place(record.id)
    folder.mkdir(parents=True)
    for name, content in {**files, **({"trace.parquet": b"spans" * 100} if trace else {})}.items():
        (folder / name).write_bytes(content)
    store.add(record)
    return record


def forget(store: Store, record: Record) -> None:
    shutil.rmtree(store.files.place(record.id))
