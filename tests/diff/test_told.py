"""Where no layer runs alone, what both frameworks say of a layer tells which mistake it is."""

from dataclasses import replace

import pytest

from mlmodelscope.diff.fault import faults_of
from mlmodelscope.diff.finding import FirstDifference
from mlmodelscope.diff.pairing import Apart, LayerPair
from mlmodelscope.diff.reading import Held, Reading
from mlmodelscope.diff.told import told_otherwise
from mlmodelscope.errors import WorkerError

MINE = Held("norm", (1, 8, 4, 4), "float32", "", (), "aten::batch_norm", attributes={"eps": 1e-5, "momentum": 0.1})


def other(kind: str = "aten::batch_norm", **attributes: object) -> Held:
    return replace(MINE, kind=kind, attributes={**MINE.attributes, **attributes})


@pytest.mark.parametrize(
    ("theirs", "kind"),
    [
        (other(eps=1e-3), "epsilon"),
        (other(momentum=0.01), None),
        (other("BatchNormalization", eps=1e-3), None),
        (other(), None),
        (replace(MINE, kind="", attributes={"eps": 1.0}), None),
    ],
)
def test_only_what_changes_numbers_counts_and_only_in_layers_of_one_kind(theirs: Held, kind: str | None) -> None:
    found = told_otherwise(MINE, theirs)
    assert (found.kind if found else None) == kind


def test_the_words_say_both_values() -> None:
    mine = Held(
        "pool", (1,), "float32", "", (), "aten::avg_pool2d", attributes={"count_include_pad": False, "stride": [2]}
    )
    theirs = replace(mine, attributes={"count_include_pad": True, "stride": [1]})
    found = told_otherwise(mine, theirs)
    assert found is not None and found.kind == "stride"
    assert found.words == "in B `stride` is [1], and not [2] and `count_include_pad` is True, and not False"


def test_a_layer_that_cannot_run_alone_is_explained_by_what_it_was_told() -> None:
    class Worker:
        """In a framework that runs no layer alone."""

        def try_changes(self, request: object) -> None:
            raise WorkerError("this framework cannot run a layer of the model alone here")

    apart = Apart("same", 0.5, 1.0, 0.5, 0.1, 0.9, (0, 0), 0, 0.0, ())
    pair = LayerPair(MINE, other(eps=1e-3), apart, 0.5, 1e-5, "differs")
    first = FirstDifference(0, pair, None, (MINE,), (other(eps=1e-3),))
    reading = Reading((), (MINE,), (), ())
    worker: list = [Worker(), Worker()]
    faults, notes = faults_of(first, [pair], [reading, reading], worker, None, lambda pair: [])  # type: ignore[arg-type]
    assert [fault.kind for fault in faults] == ["epsilon"] and notes == []
