"""Records to report on: one that was really evaluated, and made-up ones for what rarely happens."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from measured import share
from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.machine import Machine
from mlmodelscope.record.samples import TableWriter, schema_of
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.report.report import write_report
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.task.task import task_named

MACHINE = Machine(
    hostname="secret-host",
    architecture="x86_64",
    system="Linux 6.1",
    cpu="A processor",
    cores=4,
    memory_bytes=8 << 30,
    caches={"L1 data": "48K"},
    governor="performance",
    turbo=False,
    smt=None,
    container=None,
    gpus=(),
)


@pytest.fixture
def evaluated(settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable) -> Record:
    model = make_model(claims=[{"metric": "top1", "value": "75.1", "dataset": "pictures"}])
    return evaluate(model, make_dataset(make_pictures(30)), Options(batch_size=4), settings=settings)


@pytest.fixture
def report(settings: Settings) -> Callable[[Record, str], str]:
    return lambda record, form="html": write_report(record, Store(settings), ArtifactStore(settings), form)


@pytest.fixture
def make_record(make_model: Callable, make_dataset: Callable, tmp_path: Path) -> Callable[..., Record]:
    """A finished record with so many right answers; `changes` replace its parts."""

    def make(
        right: int = 58, samples: int = 70, claims: Sequence[Claim] = (), options: Options | None = None, **changes: Any
    ) -> Record:
        model, dataset = make_model(), make_dataset(tmp_path / "nowhere")
        pins = {model.source.graph_path: "1" * 64, dataset.sources[0].url: "2" * 64}
        stack = StackDescription("current", "3.11.7", {"numpy": "2.0.0", "pillow": "11.0.0"})
        plan = make_plan(model, dataset, options or Options(), stack, pins).model_copy(update={"claims": tuple(claims)})
        failed = changes.get("failed", 0)
        made = Record(
            id="20260102-030405-abcdef",
            status="finished",
            created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            plan_digest=plan.digest,
            plan=plan,
            machine=MACHINE,
            worker_version="0.1.0",
            worker_digest="3" * 64,
            samples=samples,
            metrics={
                "top1": share(wilson(right, samples - failed)),
                "top5": share(wilson(min(right + 5, samples - failed), samples - failed)),
            },
            latency=summarise_latency(1, [9_000_000], [10_000_000 + 10_000 * index for index in range(100)]),
            wall_s=2.0,
        )
        return made.model_copy(update=changes)

    return make


@pytest.fixture
def keep(settings: Settings) -> Callable[..., Record]:
    """Put a made-up record and its samples into the store."""

    def put(record: Record, rows: Sequence[tuple[Any, ...]] = ()) -> Record:
        store = Store(settings)
        store.add(record)
        table = TableWriter(store.folder(record.id) / "samples.parquet", schema_of(task_named("classification")))
        for row in rows:
            table.add(*row, None)
        table.finish()
        return record

    return put
