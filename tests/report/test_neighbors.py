"""What came first for each query, with relevant documents marked, whatever the texts and the record hold."""

from pathlib import Path
from typing import Any

import pytest

import own_world
from browser import sticks_out
from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.store import Store
from mlmodelscope.report.neighbors import find_neighbors
from mlmodelscope.report.report import write_report


@pytest.fixture
def record(settings: Settings, tmp_path: Path) -> Record:
    model, dataset = own_world.write_library(tmp_path)
    return evaluate(str(model), str(dataset), Options(timed_runs=1, warm_up_runs=0), settings=settings)


def test_each_query_has_its_documents_with_the_truth_marked(record: Record, settings: Settings, browser: Any) -> None:
    text = write_report(record, Store(settings), ArtifactStore(settings), "html")
    assert own_world.EVIL not in text
    page = browser.new_page()
    page.set_content(text)
    about = page.locator("#neighbors .about").inner_text()
    assert about == "All 2 queries, the lowest nDCG@10 first, with the nearest of 4 documents of animals."
    first = page.locator(".query").first
    assert first.locator("summary").inner_text().startswith("What do cats do? </p><script>")
    assert first.locator(".nearest li").count() == 4
    marked = first.locator(".relevant p").all_inner_texts()
    assert marked == ["Cats purr.", "Cats sleep all day."]
    assert "relevant, gain 2, similarity 0.217" in first.locator("li").nth(1).inner_text()
    assert sticks_out(page, (390, 320)) == []
    page.close()


def test_texts_are_missing_where_the_dataset_has_gone(record: Record, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").unlink()
    found = find_neighbors(record, ArtifactStore(settings))
    assert found is not None and found.queries[0].text == "" and found.queries[0].best[0].id == "d1"


@pytest.mark.parametrize(
    "queries",
    [None, [], [{"id": "q", "ndcg10": 0.1}], [3], "no", [{"best": 7}], [{"best": [{}], "id": "q"}], {"best": 1}],
)
def test_a_record_of_strangers_or_of_before_has_none(record: Record, settings: Settings, queries: Any) -> None:
    strange = record.model_copy(update={"details": {"queries": queries, "documents": 3}})
    assert find_neighbors(strange, ArtifactStore(settings)) is None
