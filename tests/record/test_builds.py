"""Builds in a record: kept, shown, and what differs between two."""

from collections.abc import Callable
from typing import Any

from mlmodelscope import Record, Settings, Store, evaluate
from mlmodelscope.bench.compare import differences
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.builds import build_differences, build_rows
from mlmodelscope.record.record import BuildRecord
from mlmodelscope.report.reproduction import software

FLAGS = " ".join(f"-Wno-warning-{number}" for number in range(40))


def with_builds(record: Record, **builds: dict[str, Any]) -> Record:
    assert record.stack is not None
    typed = {name: BuildRecord(**facts) for name, facts in builds.items()}
    return record.model_copy(update={"stack": record.stack.model_copy(update={"builds": typed})})


def test_builds_are_kept_told_and_compared(
    settings: Settings,
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Any],
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    kept = Store(settings).get(record.id)
    assert kept.stack and kept.stack.builds["numpy"].instruction_sets
    assert "numpy build" in dict(build_rows(kept)) and dict(software(kept))["numpy build"]
    assert differences(kept, kept) == ()
    (row,) = Store(settings).list()
    assert row["stack"] == "current" and "software" not in row

    one = with_builds(kept, torch={"compiler": "GCC 9", "flags": f"{FLAGS} -O2", "dispatched": ["AVX2"]})
    other = with_builds(kept, torch={"compiler": "GCC 13", "flags": f"{FLAGS} -O3 -mavx2", "dispatched": ["AVX2"]})
    assert differences(one, other) == (
        ("torch compiler", "GCC 9", "GCC 13"),
        ("torch flags", "-O2", "-O3 -mavx2"),
    )
    assert build_rows(one) == [("torch build", "compiler GCC 9; flags -O2; further code for AVX2")]
    silent = with_builds(kept, onnxruntime={"version": "1.31", "options": ["build type=Release", "provider CPU"]})
    assert build_rows(silent) == [("onnxruntime build", "build type=Release, provider CPU")]
    assert build_differences((one, with_builds(kept, jax={"version": "1"}))) == [
        ("torch build", ("known", "not known")),
        ("jax build", ("not known", "known")),
    ]

    old = with_builds(kept)
    assert '"builds"' not in old.model_dump_json() and build_rows(old) == []
    assert build_differences((old, kept)) == []  # nothing is known of it, so nothing is said
    assert Record.model_validate_json(old.model_dump_json()) == old
    assert Record.model_validate_json(kept.model_dump_json()) == kept
