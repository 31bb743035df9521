"""The papers' numbers are the papers' numbers."""

import os
import re
from pathlib import Path

import pytest

from mlmodelscope.study.paper import FACTS, TABLE1

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parent.parent.parent.parent / "shared")


def test_every_study_has_its_facts() -> None:
    from mlmodelscope.study import STUDIES

    assert set(STUDIES) == set(FACTS)
    for study in STUDIES.values():
        assert study.title and study.places
        assert {fact.paper for fact in FACTS[study.name]} <= {paper for paper, _ in study.places}


def test_the_pitfalls_of_table_1_cost_what_the_text_says_of_it() -> None:
    for row in TABLE1:
        measured = row.measured.shares[0]
        assert row.pitfalls["color-layout"].shares[0] < measured - 0.1
        assert abs(row.pitfalls["type-conversion"].shares[0] - measured) < 0.0003


@pytest.mark.shared
@pytest.mark.skipif(not (SHARED / "seeds").is_dir(), reason="the development data folder is not here")
def test_table_1_is_copied_exactly() -> None:
    text = "\n".join(path.read_text() for path in (SHARED / "seeds").glob("*.txt"))
    for row in TABLE1:
        (line,) = re.findall(rf"^{re.escape(row.model)} \[\d+\]\t(.*)$", text, re.MULTILINE)
        scores = (row.reported, row.measured, *row.pitfalls.values())
        assert line.split("\t") == [f"{number}%" for each in scores for number in (each.first, each.second)]


@pytest.mark.shared
@pytest.mark.skipif(not (SHARED / "seeds").is_dir(), reason="the development data folder is not here")
def test_the_numbers_of_the_facts_stand_in_the_papers() -> None:
    text = "\n".join(path.read_text() for path in (SHARED / "seeds").glob("*.txt"))
    plain = re.sub(r"[\s$]+", "", text).replace("\\times", "×").replace("–", "-")
    for facts in FACTS.values():
        for fact in facts:
            for number in re.findall(r"\d+(?:\.\d+)?(?:%|ms|MB|×)?", fact.value):
                assert number in plain, fact
