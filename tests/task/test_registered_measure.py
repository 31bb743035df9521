"""A metric that is registered as CONTRIBUTING says is computed, kept and shown, without a field of its own."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mlmodelscope import Record, Settings, Store, evaluate
from mlmodelscope.cli.evaluate import show_record
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.log import log_of
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.summary import Summary
from mlmodelscope.report.html import write_html
from mlmodelscope.report.markdown import write_markdown
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import MEASURES, NUMBER, measure
from mlmodelscope.types import Interval

NAME = "reciprocal_rank"


class ReciprocalRank:
    """Mean of 1 / rank of the right class, 0 where it is not among the answers."""

    computed: Any = None

    def __init__(self) -> None:
        self._ranks: list[float] = []

    def update(self, label: int, answer: ClassAnswer) -> None:
        self._ranks.append(1 / (1 + answer.classes.index(label)) if label in answer.classes else 0.0)

    def compute(self) -> Any:
        if self.computed is not None:
            return self.computed
        mean = sum(self._ranks) / len(self._ranks)
        return Interval(mean, mean / 2, 1.0)


@pytest.fixture
def registered() -> Iterator[type[ReciprocalRank]]:
    class Fresh(ReciprocalRank):
        pass

    measure(NAME, NAME, ("classification",), unit=NUMBER)(Fresh)
    try:
        yield Fresh
    finally:
        del MEASURES.things[NAME]


@pytest.fixture
def evaluated(
    registered: type[ReciprocalRank],
    settings: Settings,
    make_model: Callable,
    make_dataset: Callable,
    make_pictures: Callable,
) -> Record:
    return evaluate(make_model(), make_dataset(make_pictures()), settings=settings)


def test_a_registered_metric_is_in_the_record_and_in_the_store(evaluated: Record, settings: Settings) -> None:
    number = evaluated.metrics[NAME]
    assert 0 < number.value <= 1 and number.interval is not None and number.unit == "number"
    with Store(settings).database.reading() as connection:
        rows = connection.exec_driver_sql("select name, value, low from metrics").all()
    assert (NAME, number.value, number.low) in rows
    assert Store(settings).get(evaluated.id).metrics == evaluated.metrics


def test_a_registered_metric_is_shown_by_evaluate_and_in_reports(
    evaluated: Record, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    show_record(evaluated)
    shown = f"{evaluated.metrics[NAME].value:.3g}"
    assert f"{NAME} {shown}"[:19] in " ".join(capsys.readouterr().out.split())
    for write in (write_markdown, write_html):
        assert NAME in write(evaluated, Store(settings), ArtifactStore(settings)).lower()
    assert log_of(evaluated, "log")["metrics"][NAME]["value"] == evaluated.metrics[NAME].value


def test_what_is_no_number_is_refused_and_does_not_stop_the_evaluation(
    registered: type[ReciprocalRank], evaluated: Record
) -> None:
    for computed in ([1, 2], "high", float("nan"), Interval(float("inf"), 0, 1), {"value": 1}):
        registered.computed = computed
        found = Summary(evaluated.plan).found()
        assert "neither a finite number nor an Interval" in found["refused"][NAME] and NAME not in found["metrics"]


def test_a_number_without_an_interval_is_shown_without_one(evaluated: Record, settings: Settings) -> None:
    bare = {**evaluated.metrics, NAME: MeasuredNumber(value=0.25, unit="number")}
    plain = evaluated.model_copy(update={"metrics": bare})
    text = write_markdown(plain, Store(settings), ArtifactStore(settings))
    assert f"| {NAME} | 0.250 |  |" in text


def test_a_name_is_taken_once(registered: type[ReciprocalRank]) -> None:
    with pytest.raises(ValueError, match=r"the name `top1` is taken by mlmodelscope\.task\.class_accuracy\.TopK"):
        measure("top1", "top-1", ("classification",))(ReciprocalRank)


def test_a_name_of_several_measures_means_the_same_whatever_was_imported_first() -> None:
    program = "import mlmodelscope.task.choice, mlmodelscope.task.measure as it; print(it.find_measure('acc').name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "top1\n"
