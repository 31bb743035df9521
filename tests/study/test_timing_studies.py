"""Studies that measure times: every row is there, and nothing is claimed of how long it took."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope import Settings
from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.store import Store
from mlmodelscope.study import STUDIES, Request
from mlmodelscope.study.threads import default_counts


@pytest.fixture
def toy(
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Path],
    settings: Settings,
) -> Request:
    return Request(model=make_model(), dataset=make_dataset(make_pictures(6)), settings=settings)


def test_thread_counts_double_up_to_all_cores() -> None:
    assert default_counts(1) == [1]
    assert default_counts(4) == [1, 2, 4]
    assert default_counts(6) == [1, 2, 4, 6]


def test_each_thread_count_leaves_a_record(toy: Request, settings: Settings) -> None:
    from dataclasses import replace

    outcome = STUDIES["threads"].run(replace(toy, threads=(2, 1), batch_sizes=(2,)))
    (table,) = outcome.tables
    assert [row["threads"] for row in table.rows] == [1, 2]
    assert all(row["latency_s"] > 0 and row["samples_per_s"] > 0 for row in table.rows)
    store = Store(settings)
    try:
        plans = [store.get(record).plan for record in outcome.records]
    finally:
        store.close()
    assert [plan.predictor.options["threads"] for plan in plans] == [1, 2]
    assert {plan.scenario.batch_size for plan in plans} == {2}
    again = STUDIES["threads"].run(replace(toy, threads=(2, 1), batch_sizes=(2,)))
    assert again.records == outcome.records and any("From the store: 2 of 2" in note for note in again.notes)


def test_a_cold_start_is_taken_apart(toy: Request) -> None:
    from dataclasses import replace

    (table,) = STUDIES["cold-start"].run(replace(toy, runs=2)).tables
    rows = {row["phase"]: row for row in table.rows}
    assert list(rows) == ["start", "load", "first", "second", "steady", "to_first"]
    assert rows["steady"]["in_inferences"] == 1
    assert rows["to_first"]["median_s"] > rows["load"]["median_s"] > 0


def test_no_sample_that_can_be_prepared_is_an_error(toy: Request, tmp_path: Path) -> None:
    from dataclasses import replace

    for path in (tmp_path / "pictures").rglob("*.png"):
        path.write_bytes(b"no picture")
    for name in ("cold-start", "language"):
        with pytest.raises(PlanError, match="can be prepared"):
            STUDIES[name].run(replace(toy, runs=1))


def test_one_stack_is_nothing_to_compare_with(
    seer: ModelManifest, colours: DatasetManifest, settings: Settings
) -> None:
    outcome = STUDIES["frameworks"].run(Request(model=seer, dataset=colours, settings=settings))
    stacks, kinds, longest = outcome.tables
    assert [row["stack"] for row in stacks.rows] == ["current"] and stacks.rows[0]["accuracy"] == 1.0
    assert kinds.rows[0]["kind"] == "all layers" and kinds.rows[1]["kind"] == "pooling"
    assert longest.rows[0]["kind"] == "GlobalAveragePool"
    assert any("nothing to compare" in note for note in outcome.notes)


def test_another_framework_reads_the_same_file(
    seer: ModelManifest, colours: DatasetManifest, settings: Settings
) -> None:
    """OpenCV is in this Python too, so that its stack's manifest is satisfied by it or not known at all."""
    stacks = ("current", "opencv-5", "no-such-stack")
    outcome = STUDIES["frameworks"].run(Request(model=seer, dataset=colours, settings=settings, stacks=stacks))
    assert any(note.startswith("no-such-stack: ") for note in outcome.notes)
    assert outcome.tables[0].rows[0]["stack"] == "current"


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler is here")
def test_c_and_python_give_the_same_bits(seer: ModelManifest, colours: DatasetManifest, settings: Settings) -> None:
    request = Request(model=seer, dataset=colours, settings=settings, runs=6, batch_sizes=(1, 3))
    (table,) = STUDIES["language"].run(request).tables
    assert [(row["batch_size"], row["language"]) for row in table.rows] == [
        (size, name) for size in (1, 3) for name in ("c", "numpy", "lists")
    ]
    assert {row["answer"] for row in table.rows} == {"same bits"}
    assert all(row["latency_s"] > 0 and row["cpu_ratio"] > 0 for row in table.rows)


def test_without_a_compiler_the_row_says_so(
    seer: ModelManifest, colours: DatasetManifest, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    request = Request(model=seer, dataset=colours, settings=settings, runs=2, batch_sizes=(1,))
    outcome = STUDIES["language"].run(request)
    native, numpy, lists = outcome.tables[0].rows
    assert native["latency_s"] is None and "no C compiler" in native["missing"]
    assert numpy["latency_ratio"] == 1 and lists["latency_s"] > 0
    assert any("No C row" in note for note in outcome.notes)


def test_a_framework_without_a_c_program_still_compares_python(toy: Request) -> None:
    from dataclasses import replace

    outcome = STUDIES["language"].run(replace(toy, runs=2, batch_sizes=(1,)))
    native, numpy, _ = outcome.tables[0].rows
    assert native["missing"] == "a C program is known for onnxruntime, not for fake" and numpy["cpu_s"] >= 0


def test_settings_are_tried_one_by_one_and_what_cannot_be_set_is_told(toy: Request, settings: Settings) -> None:
    outcome = STUDIES["machine-settings"].run(toy)
    (table,) = outcome.tables
    rows = {row["setting"]: row for row in table.rows}
    assert list(rows)[:5] == ["as it is", "governor performance", "turbo off", "SMT off", "1 thread"]
    assert rows["as it is"]["ratio"] == 1 and rows["1 thread"]["latency_s"] > 0
    for name in ("governor performance", "turbo off", "SMT off"):  # nothing of everybody's is set without trust
        assert "trust" in rows[name]["refused"]
    levels = [row for name, row in rows.items() if name.startswith("up to")]
    assert all(0 <= row["same_bits"] <= row["same_answer"] <= row["samples"] == 6 for row in levels)
    store = Store(settings)
    try:
        limited = [store.get(row["record"]) for row in levels]
    finally:
        store.close()
    assert len({record.plan.stack.environment["OPENBLAS_CORETYPE"] for record in limited}) >= min(len(levels), 2)
    assert all(record.settings[0].name == "instruction_sets" for record in limited)
