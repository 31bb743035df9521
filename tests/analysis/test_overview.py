"""The summary over records: the newest tells, what is missing is named."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from measured import share
from mlmodelscope import Settings, evaluate
from mlmodelscope.analysis.overview import Entry, make_overview, pareto, same_samples
from mlmodelscope.analysis.overview_page import overview_html, overview_markdown
from mlmodelscope.analysis.overview_table import overview_analyses, overview_csv
from mlmodelscope.plan.options import Options
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.bench import BenchRecord, LoadRecord, Stability, SweepRecord
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.types import Interval


@pytest.fixture
def evaluated(
    make_model: Callable[..., Any],
    make_dataset: Callable[..., Any],
    make_pictures: Callable[..., Path],
    settings: Settings,
) -> Record:
    return evaluate(make_model(), make_dataset(make_pictures(6)), Options(timed_runs=5), settings=settings)


def load(batch_size: int = 1, speed: float = 100.0, scenario: str = "single-stream") -> LoadRecord:
    return LoadRecord(
        scenario=scenario,
        batch_size=batch_size,
        samples_per_query=batch_size,
        queries=100,
        duration_s=1.0,
        samples_per_s=speed,
        percentiles_s={"p90": Interval(0.012, 0.011, 0.013)},
        mean_s=0.01,
        trimmed_mean_s=0.009,
    )


def benched(record: Record, name: str, scenario: str = "single-stream", **more: Any) -> Record:
    bench = {
        "scenario": scenario,
        "budget_s": 1.0,
        "seed": 0,
        "measured": load(scenario=scenario),
        "stability": Stability(verdict="stable"),
        **more,
    }
    bare = {"id": name, "metrics": {}, "latency": None, "bench": BenchRecord(**bench)}
    return record.model_copy(update=bare)


def swept(record: Record, name: str = "sweep", **more: Any) -> Record:
    runs = (load(1, 100.0), load(2, 190.0), load(4, 195.0))
    sweep = SweepRecord(optimal_batch=2, gain=0.05, ended="enough")
    return benched(record, name, "sweep", runs=runs, sweep=sweep, measured=load(2, 190.0), **more)


def one(records: list[Record]) -> Entry:
    (entry,) = make_overview(records)
    return entry


def test_a_full_row_comes_from_three_records(evaluated: Record) -> None:
    entry = one([swept(evaluated), benched(evaluated, "single"), evaluated])
    assert entry.accuracy is not None and entry.accuracy.record == evaluated.id
    assert entry.latency_s is not None and (entry.latency_s.value, entry.latency_s.record) == (0.009, "single")
    assert entry.p90_s is not None and entry.p90_s.value == 0.012
    assert entry.samples_per_s is not None and (entry.samples_per_s.value, entry.best_batch) == (195.0, 4)
    assert entry.optimal_batch == 2 and entry.sweep == {1: 100.0, 2: 190.0, 4: 195.0} and not entry.missing


def test_the_newest_record_tells(evaluated: Record) -> None:
    newer = benched(evaluated, "newer", measured=load().model_copy(update={"trimmed_mean_s": 0.02}))
    entry = one([newer, benched(evaluated, "older")])
    assert entry.latency_s is not None and entry.latency_s.record == "newer"


def test_a_bench_tells_better_than_an_evaluation_though_it_is_older(evaluated: Record) -> None:
    entry = one([evaluated, benched(evaluated, "older")])
    assert entry.latency_s is not None and entry.latency_s.record == "older"


def test_an_evaluation_alone_has_a_latency_and_misses_the_benches(evaluated: Record) -> None:
    entry = one([evaluated])
    assert entry.latency_s is not None and entry.latency_s.record == evaluated.id
    assert [each.what for each in entry.missing] == ["online latency", "throughput"]
    assert entry.missing[1].command == "mlmodelscope bench toy@1.0.0 pictures@1.0.0 --scenario sweep"
    notes = " ".join(overview_analyses([entry])[0].notes)
    assert "the most that was measured" in notes and "not of a bench" in notes


def test_what_a_pipeline_or_loadgen_took_is_not_the_models_latency(evaluated: Record) -> None:
    entry = one(
        [benched(evaluated, "a", end_to_end=True), benched(evaluated, "b", loadgen={"result_validity": "VALID"})]
    )
    assert entry.latency_s is None and entry.samples_per_s is None


def test_a_servers_load_is_no_maximum(evaluated: Record) -> None:
    assert one([benched(evaluated, "a", "server")]).samples_per_s is None


def test_unstable_numbers_are_marked(evaluated: Record) -> None:
    shaky = Stability(verdict="unstable", because=("somebody else was busy",))
    entry = one([swept(evaluated, stability=shaky), benched(evaluated, "single", stability=shaky), evaluated])
    analyses = overview_analyses([entry])
    assert analyses[0].table.column("unstable") == ["latency, throughput"]
    assert any("unstable: the latency of toy@1.0.0" in note for note in analyses[0].notes)
    assert "9 ms, unstable" in overview_markdown(analyses).replace("\N{NO-BREAK SPACE}", " ")


def test_threads_make_another_row_of_the_same_accuracy(evaluated: Record) -> None:
    options = {**evaluated.plan.predictor.options, "threads": 2}
    plan = evaluated.plan.model_copy(
        update={"predictor": evaluated.plan.predictor.model_copy(update={"options": options})}
    )
    wider = benched(evaluated.model_copy(update={"plan": plan}), "wider")
    single, double = sorted(make_overview([wider, evaluated]), key=lambda entry: entry.stack)
    assert single.accuracy == double.accuracy and double.stack.endswith("2 threads") and len(double.missing) == 1


def test_machines_of_one_name_are_told_apart(evaluated: Record) -> None:
    other = evaluated.machine.model_copy(update={"cores": 99})
    entries = make_overview([evaluated, evaluated.model_copy(update={"machine": other})])
    assert len({entry.machine for entry in entries}) == 2


def measured_on(record: Record, identity: str, count: int | None, samples: int, top1: float, **dataset: Any) -> Record:
    """The record as if it were of another dataset, or of some samples only."""
    subset = record.plan.dataset.subset.model_copy(update={"count": count})
    planned = record.plan.dataset.model_copy(update={"subset": subset, **dataset})
    plan = record.plan.model_copy(update={"dataset": planned})
    metrics = {"top1": share(Interval(top1, top1 - 0.1, top1 + 0.1))}
    return record.model_copy(update={"id": identity, "plan": plan, "samples": samples, "metrics": metrics})


def test_all_samples_count_before_a_part_of_them_though_that_is_newer(evaluated: Record) -> None:
    few, more = (measured_on(evaluated, f"of {count}", count, count, 1.0, size=9) for count in (2, 4))
    entry = one([few, more, measured_on(evaluated, "whole", None, 9, 0.5, size=9)])
    assert entry.accuracy is not None and entry.accuracy.record == "whole" and entry.accuracy.whole
    part = one([few, more])
    assert part.accuracy is not None and (part.accuracy.record, part.accuracy.samples, part.accuracy.whole) == (
        "of 4",
        4,
        False,
    )
    assert part.missing[0].what == "accuracy on all samples"
    analyses = overview_analyses([part])
    assert "4, a part of 9" in overview_markdown(analyses)
    assert "no accuracy is over all samples of the dataset" in analyses[0].notes


def test_a_limit_beyond_the_dataset_takes_all_of_it(evaluated: Record) -> None:
    entry = one([measured_on(evaluated, "beyond", 100, 6, 0.5)])
    assert entry.accuracy is not None and entry.accuracy.whole


def test_every_dataset_has_a_table_and_a_front_of_its_own(evaluated: Record) -> None:
    easy = measured_on(evaluated, "easy", None, 6, 0.98, name="easy")
    entries = make_overview([easy, evaluated])
    first, second, missing = overview_analyses(entries)
    assert (first.title, second.title) == ("easy@1.0.0", "pictures@1.0.0") and missing.id == "missing"
    assert first.table.column("accuracy") == [0.98] and second.table.column("accuracy_record") == [evaluated.id]
    assert "accuracy-latency-easy-1.0.0" in first.plots and "accuracy-latency-pictures-1.0.0" in second.plots
    assert len(overview_csv([first, second, missing]).splitlines()) == 3


def test_accuracies_over_other_samples_are_not_drawn_together(evaluated: Record) -> None:
    other = evaluated.model_copy(update={"plan": evaluated.plan.with_answer(label_offset=1)})
    part = measured_on(other, "part", 2, 2, 1.0)
    entries = make_overview([part, evaluated])
    assert [entry.accuracy.whole for entry in entries if entry.accuracy] == [True, False]
    assert same_samples(entries) == entries[:1]
    assert "neither drawn nor Pareto-optimal" in overview_analyses(entries)[0].notes[0]


def test_a_manifest_that_changed_without_its_version_is_another_row(evaluated: Record) -> None:
    changed = evaluated.model_copy(update={"plan": evaluated.plan.with_answer(label_offset=1)})
    names = [entry.model for entry in make_overview([changed, evaluated])]
    assert len(set(names)) == 2 and all(name.startswith("toy@1.0.0 (") for name in names)


def test_random_tensors_have_a_table_of_their_own(evaluated: Record) -> None:
    planned = evaluated.plan.dataset.model_copy(update={"name": "random", "sources": ()})
    plan = evaluated.plan.model_copy(update={"dataset": planned})
    guessed = benched(evaluated.model_copy(update={"plan": plan}), "guessed")
    entries = make_overview([guessed, evaluated])
    assert [entry.dataset for entry in entries] == ["pictures@1.0.0", "random tensors"]
    assert entries[1].accuracy is None and entries[0].latency_s is not None
    assert entries[0].latency_s.record == evaluated.id
    assert entries[1].missing[0].command == "mlmodelscope bench toy@1.0.0 --random --scenario sweep"


def test_the_graphs_size_is_that_of_its_files(evaluated: Record, settings: Settings) -> None:
    (entry,) = make_overview([evaluated], ArtifactStore(settings))
    assert evaluated.plan.model.graph is not None
    assert entry.size_bytes == Path(evaluated.plan.model.graph.url).stat().st_size


def test_the_front_has_what_nothing_beats() -> None:
    points = [(1.0, 50.0), (2.0, 70.0), (3.0, 60.0), (4.0, 80.0)]
    assert pareto(points) == [(1.0, 50.0), (2.0, 70.0), (4.0, 80.0)]
    assert pareto(points, more_is_better=True) == [(4.0, 80.0)]


def test_every_picture_of_the_paper_is_drawn(evaluated: Record) -> None:
    analyses = overview_analyses(make_overview([swept(evaluated), benched(evaluated, "single"), evaluated]))
    assert list(analyses[0].plots) == ["accuracy-latency", "accuracy-throughput", "speed-up", "latency-systems"]
    page = overview_html(analyses)
    assert page.count('<svg class="plot"') == 4 and evaluated.id in page and "<script" not in page
    assert "1.90" in analyses[0].plots["speed-up"]


def test_the_store_gives_the_newest_of_each_work(evaluated: Record, settings: Settings) -> None:
    store = Store(settings)
    newer = evaluated.model_copy(update={"id": "newer", "created_at": evaluated.created_at + timedelta(hours=1)})
    other = newer.model_copy(update={"id": "other", "plan_digest": "0" * 64})
    unfinished = newer.model_copy(update={"id": "half", "plan_digest": "1" * 64, "status": "running"})
    for record in (newer, other, unfinished):
        store.add(record)
    assert {record.id for record in store.newest()} == {"newer", "other"}
    assert list(store.newest(["another model"])) == []
    store.close()


def test_an_overview_needs_no_whole_records(evaluated: Record, settings: Settings) -> None:
    store = Store(settings)
    for place, record in enumerate((swept(evaluated), benched(evaluated, "single", loadgen=None))):
        store.add(record.model_copy(update={"plan_digest": f"{place}" * 64}))
    whole, told = (overview_analyses(make_overview(found)) for found in (store.newest(), store.newest_told()))
    assert [each.table.rows for each in told] == [each.table.rows for each in whole] and len(whole[0].table.rows) == 1
    assert [each.plots for each in told] == [each.plots for each in whole]
    assert not any(hasattr(each, "class_names") for each in store.newest_told())
    store.close()


def test_the_newest_of_each_work_is_found_without_touching_a_document(evaluated: Record, settings: Settings) -> None:
    store, asked = Store(settings), list[str]()
    event.listen(store.database.engine, "before_cursor_execute", lambda *said: asked.append(said[2]))
    list(store.newest())
    with store.database.reading() as connection:
        how = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN {next(each for each in asked if 'row_number' in each)}", ("finished", 1)
        )
        assert any("COVERING INDEX records_by_work" in str(row) for row in how)
    store.close()


def test_nothing_is_drawn_that_nobody_looks_at(evaluated: Record) -> None:
    analyses = overview_analyses(make_overview([swept(evaluated), evaluated]), drawn=False)
    assert analyses[0].table.rows and not analyses[0].plots
