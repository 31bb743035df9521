"""Numbers beside those that are true: plots of residuals, the largest errors, and pairs of texts."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import own_world
from browser import sticks_out
from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.samples import schema_of
from mlmodelscope.record.store import Store
from mlmodelscope.report.predictions import MOST, Predictions, find_predictions
from mlmodelscope.report.report import write_report
from mlmodelscope.report.residual_charts import predicted_chart, residual_chart
from mlmodelscope.task.task import task_named

NAN, INF = float("nan"), float("inf")


def evaluated(task: str, folder: Path, settings: Settings) -> Record:
    model, dataset = own_world.WORLDS[task](folder)
    return evaluate(str(model), str(dataset), Options(timed_runs=1, warm_up_runs=0), settings=settings)


def report_of(record: Record, settings: Settings) -> str:
    return write_report(record, Store(settings), ArtifactStore(settings), "html")


def found_in(folder: Path, rows: list[tuple[Any, Any]], task: str = "regression") -> Predictions | None:
    """Of a table with these (true values, answers)."""
    lines = [
        {
            "id": f"s{at}",
            "digest": "0",
            "target": truth if isinstance(truth, str) else json.dumps({"values": truth}),
            "values": answer,
        }
        for at, (truth, answer) in enumerate(rows)
    ]
    pq.write_table(pa.Table.from_pylist(lines, schema=schema_of(task_named(task))), folder / "samples.parquet")
    return find_predictions(folder, task)


def test_residuals_are_drawn_and_the_largest_are_named(tmp_path: Path, settings: Settings, browser: Any) -> None:
    record = evaluated("tabular_regression", tmp_path, settings)
    text = report_of(record, settings)
    assert 'aria-label="Predicted less true numbers over true ones, 39 of 39 numbers of 39 samples"' in text
    assert text.count('class="point far"') == 20 and text.count('class="point"') == 58
    assert "<title>row-0: true 4, predicted 0, off by -4</title>" in text
    assert "39 samples of <bdi>curve</bdi>" in text and own_world.EVIL not in text
    page = browser.new_page(color_scheme="dark")
    page.set_content(text)
    rows = page.locator("#predictions tbody tr")
    assert rows.count() == 10 and rows.first.inner_text().split() == ["row-0", "4", "0", "-4"]
    assert sticks_out(page, (1280, 390, 320)) == []
    page.close()


def test_forecasts_have_several_numbers_each(tmp_path: Path, settings: Settings) -> None:
    text = report_of(evaluated("time_series_forecasting", tmp_path, settings), settings)
    assert "5 samples of <bdi>series</bdi>, 15 numbers in all." in " ".join(text.split())
    assert "<title>series-4, number 3: true 12, predicted 14, off by +2</title>" in text


def test_pairs_of_texts_stand_beside_both_scores(tmp_path: Path, settings: Settings) -> None:
    text = report_of(evaluated("text_similarity", tmp_path, settings), settings)
    table = text[text.index("Pairs with the largest error") :].split("</table>")[0]
    assert "The 3 worst of 3 samples" in table and 'id="worst"' in text
    first = table.split("<tbody>")[1].split("</tr>")[0]
    assert "a dog &lt;/p&gt;" in first and "a car" in first
    assert re.findall(r'class="number">([^<]*)<', first) == ["0.5", "0.9", "20\N{NO-BREAK SPACE}%"]
    assert "Residuals" not in text and own_world.EVIL not in text


def test_other_tasks_compare_no_numbers(tmp_path: Path, settings: Settings) -> None:
    record = evaluated("speech_recognition", tmp_path, settings)
    assert find_predictions(Store(settings).samples_file(record).parent, "speech_recognition") is None
    assert 'id="predictions"' not in report_of(record, settings)


def test_what_is_not_finite_is_counted_and_not_drawn(tmp_path: Path) -> None:
    found = found_in(tmp_path, [([1.0], [NAN]), ([1.0], [INF]), ([1e308], [-1e308]), ([2.0], [2.5])])
    assert found is not None and (found.samples, found.values, found.lost) == (4, 4, 3)
    assert [each.sample for each in found.points] == ["s3"] and found.largest == found.points
    for chart in (predicted_chart(found), residual_chart(found)):
        assert "nan" not in chart and "inf" not in chart


def test_only_numbers_that_cannot_be_drawn_break_nothing(tmp_path: Path) -> None:
    found = found_in(tmp_path, [([1.0], [NAN])])
    assert found is not None and found.points == () and found.lost == 1


@pytest.mark.parametrize("target", ["[1]", "{}", '{"values": "12"}', '{"values": [null]}', '{"values": [[1]]}', "null"])
def test_a_strangers_row_is_passed_over(tmp_path: Path, target: str) -> None:
    assert found_in(tmp_path, [(target, [1.0])]) is None
    with_one = found_in(tmp_path, [(target, [1.0]), ([1.0, 2.0], [1.0]), ([3.0], [3.0])])
    assert with_one is not None and with_one.samples == 1


def test_many_samples_are_thinned_and_the_largest_errors_stay(tmp_path: Path) -> None:
    rows = [([float(at)], [float(at) + (100 if at == 7777 else 0.001 * at)]) for at in range(10_000)]
    found = found_in(tmp_path, rows)
    assert found is not None and found.values == 10_000 and MOST / 2 < len(found.points) <= MOST + 10
    assert found.largest[0].sample == "s7777" and len(found.largest) == 10 and set(found.largest) <= set(found.points)


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0, 1e9, 1e299])
def test_axes_of_any_size_have_short_labels(tmp_path: Path, size: float) -> None:
    found = found_in(tmp_path, [([size], [2 * size]), ([3 * size], [2.5 * size])])
    assert found is not None
    for chart in (predicted_chart(found), residual_chart(found)):
        labels = re.findall(r'class="scale"[^>]*>([^<]*)<', chart)
        assert len(labels) > 4 and max(map(len, labels)) < 12, labels
        places = [float(each) for each in re.findall(r'cx="([^"%]*)%"', chart)]
        assert len(places) == 2 and all(13 <= each <= 98 for each in places)


def test_equal_numbers_have_a_place(tmp_path: Path) -> None:
    found = found_in(tmp_path, [([0.0], [0.0]), ([0.0], [0.0])])
    assert found is not None and "nan" not in predicted_chart(found) + residual_chart(found)
