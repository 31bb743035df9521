"""Measures from a package, counted by the host or computed by a rule, are known by name and belong to their package."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.errors import PluginError
from mlmodelscope.task.measure import MEASURES, CountedMeasure, find_measure
from mlmodelscope.task.ruled import RuledMeasure

Odd = Callable[..., Path]
COUNTED = """
from mlmodelscope.task.measure import measure

@measure("odd-rate", "odd rate", ("classification",), better="lower", aliases=("odd-share",))
class OddRate:
    def __init__(self):
        self.seen = self.odd = 0

    def update(self, target, answer):
        self.seen, self.odd = self.seen + 1, self.odd + answer.classes[0] % 2

    def compute(self):
        return self.odd / self.seen
"""
RULED = """
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.ruled import RuledMeasure

MEASURES.things[{key!r}] = RuledMeasure({name!r}, "odd", ("object_detection",))
"""


@pytest.mark.parametrize(
    "source, kind", [(COUNTED, CountedMeasure), (RULED.format(key="odd-rate", name="odd-rate"), RuledMeasure)]
)
def test_a_measure_is_found_by_its_name_and_keeps_its_origin(odd: Odd, source: str, kind: type) -> None:
    odd({"measures": {"odd-rate": "odd"}}, {"odd.py": source})
    assert isinstance(find_measure("Odd_Rate"), kind)
    origin = MEASURES.origin("odd-rate")  # its class may be one of ours; the measure is not
    assert origin is not None and origin.owner == "odd-package 0.1"


def test_a_counted_measure_is_found_by_its_alias(odd: Odd) -> None:
    odd({"measures": {"odd-rate": "odd"}}, {"odd.py": COUNTED})
    found = find_measure("odd-share")
    assert found is not None and found.name == "odd-rate" and found.better == "lower"


@pytest.mark.parametrize(
    "source, reason",
    [
        (RULED.format(key="odd-rate", name="even-rate"), "as the measure `odd-rate`"),
        (
            RULED.format(key="odd-rate", name="odd-rate") + RULED.format(key="more", name="more"),
            "without an entry point",
        ),
    ],
)
def test_what_calls_itself_otherwise_or_comes_unseen_is_refused(odd: Odd, source: str, reason: str) -> None:
    odd({"measures": {"odd-rate": "odd"}}, {"odd.py": source})
    with pytest.raises(PluginError, match=reason):
        MEASURES.find("odd-rate")
    assert "more" not in MEASURES.things and "odd-rate" not in MEASURES.things


def test_a_measure_of_ours_is_not_replaced_before_it_is_imported(odd: Odd, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "mlmodelscope.task.keypoints", raising=False)
    for name in [each for each, module in MEASURES.built_in.items() if module == "mlmodelscope.task.keypoints"]:
        monkeypatch.delitem(MEASURES.things, name, raising=False)
    source = RULED.format(key="odd-rate", name="odd-rate") + RULED.format(key="oks-ap", name="oks-ap")
    odd({"measures": {"odd-rate": "odd"}}, {"odd.py": source})
    with pytest.raises(PluginError, match="odd replaces the measure `oks-ap`"):
        MEASURES.find("odd-rate")
