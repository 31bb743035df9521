"""The report of a detector: its measures, its classes, and truth and answer over each other."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from detector_world import write_detector
from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.report.charts import precision_recall
from mlmodelscope.report.class_numbers import class_sheet
from mlmodelscope.report.overlay import overlay
from mlmodelscope.task.shape import BoxShape, MaskShape, PointsShape, TextShape
from report.test_html import Page

Report = Callable[..., str]


@pytest.fixture
def detected(settings: Settings, tmp_path: Path) -> Record:
    model, dataset = write_detector(tmp_path)
    return evaluate(model, dataset, Options(timed_runs=3, warm_up_runs=0), settings=settings)


def test_the_report_has_what_a_detector_has_and_nothing_else(detected: Record, report: Report) -> None:
    page = Page(report(detected))
    headings = page.text
    for word in ("AP50", "AP75", "All measures", "Precision and recall", "2 classes; the lowest AP comes first."):
        assert word in headings
    for word in ("Calibration", "Wrong answers", "top-1", "Top-1"):
        assert word not in headings


def test_truth_and_answer_lie_over_each_other_the_worst_first(detected: Record, report: Report) -> None:
    text = report(detected)
    page = Page(text)
    seen = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") == "seen"]
    assert len(seen) == 12 and all(each["viewbox"] == "0 0 64 48" for each in seen)
    assert "there is cat, dog;" in str(seen[0]["aria-label"])  # those with a dog have it missed
    assert '<g class="of-truth"><title>truth: cat</title>' in text
    assert '<rect x="0.0" y="0.0" width="32.0" height="24.0"/>' in text
    assert text.count('type="checkbox"') == 2 and "<script" not in text


def test_a_dataset_that_has_gone_costs_the_pictures_not_the_shapes(
    detected: Record, report: Report, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "things")
    text = report(detected)
    assert "the dataset cannot be read any more" in Page(text).text
    assert 'viewBox="0 0 64 48"' in text and "<image" not in text


def test_tables_for_programs_have_names_boxes_and_quality(detected: Record, report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report(detected, "csv"))))
    assert len(rows) == 12 and list(rows[0]) == ["id", "digest", "target", "answer", "quality", "error"]
    answer = json.loads(rows[0]["answer"])
    assert answer[0]["label"] in ("cat", "dog") and len(answer[0]["box"]) == 4
    sample = json.loads(report(detected, "json"))["samples"][0]
    assert sample["answer"] == answer and sample["target"]["size"] == [48, 64]
    assert sample["quality"] == float(rows[0]["quality"])


def test_markdown_has_the_worst_classes(detected: Record, report: Report) -> None:
    assert "| `dog` | 4 | 0.0 % | 0.0 % |" in report(detected, "md").replace("\N{NO-BREAK SPACE}", " ")


def test_classes_have_the_columns_that_their_task_measures(detected: Record) -> None:
    sheet = class_sheet(detected)
    assert sheet is not None
    assert [each.title for each in sheet.columns] == ["Things", "AP", "AP50"] and sheet.main == 1
    assert [each.name for each in sheet.classes] == ["dog", "cat"]
    assert (
        class_sheet(detected.model_copy(update={"details": {"per_class": [{"class": 0, "right": 1, "seen": 2}]}}))
        is None
    )
    other = [{"class": 1, "pixels": 9, "iou": 0.5}, {"class": 0, "pixels": 3, "iou": None}]
    found = class_sheet(detected.model_copy(update={"details": {"per_class": other}}))
    assert found is not None and [each.title for each in found.columns] == ["Pixels", "IoU"]
    assert [each.label for each in found.classes] == [1, 0]  # what could not be measured comes last


def test_every_kind_of_shape_is_drawn_and_names_are_inert() -> None:
    shapes = [
        BoxShape("answer", -10, -10, 900, 50, "<b>", 0.5),
        MaskShape("answer", "AAAA", (("sky", "#123456"),)),
        PointsShape("truth", ((1, 2), (3, 4)), ((0, 1),), "person"),
        TextShape("answer", "words"),
    ]
    drawn = overlay(None, (100, 80), shapes, "a picture")
    assert '<rect x="0.0" y="0.0" width="100.0" height="50.0"/>' in drawn  # inside of the picture
    assert "<b>" not in drawn and "&lt;b&gt;" in drawn
    assert "data:image/png;base64,AAAA" in drawn and drawn.count("<circle") == 2 and drawn.count("<line") == 1
    assert "words" not in drawn


def test_precision_over_recall_is_described() -> None:
    chart = precision_recall([{"recall": share / 4, "precision": 1 - share / 8} for share in range(5)])
    assert 'aria-label="Precision over recall; 75.0 % at a recall of 50 %"' in chart and chart.count("<circle") == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_screen_and_sides_are_hidden_without_a_script(
    detected: Record, report: Report, browser: Any, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report(detected), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    assert sticks_out(page) == []
    truth, said = (page.locator(f".seen .of-{side} rect").first for side in ("truth", "answer"))
    assert truth.is_visible() and said.is_visible()
    page.get_by_label("Truth", exact=True).uncheck()
    assert not truth.is_visible() and said.is_visible()
    assert complaints == []
