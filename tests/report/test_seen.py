"""Reports of tasks whose answers can be seen: masks, instances, keypoints, labels and pictures, the worst first."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser import sticks_out
from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.measure.box_confusion import summed
from mlmodelscope.report.charts import qualities
from report.test_html import Page
from seen_world import WORLDS

pytest.importorskip("onnxruntime")
pytest.importorskip("faster_coco_eval")
Report = Callable[..., str]
Make = Callable[[str], Record]


@pytest.fixture
def make(settings: Settings, tmp_path: Path) -> Make:
    def evaluated(task: str) -> Record:
        model, dataset = WORLDS[task](tmp_path / "world")
        return evaluate(model, dataset, Options(timed_runs=3, warm_up_runs=0), settings=settings)

    return evaluated


def tags(page: Page, tag: str, kind: str) -> list[dict[str, Any]]:
    return [attributes for name, attributes in page.tags if name == tag and attributes.get("class") == kind]


@pytest.mark.parametrize(
    ("task", "drawn"),
    [("semantic_segmentation", "<image"), ("instance_segmentation", "<image"), ("keypoint_detection", "<circle")],
)
def test_truth_and_answer_lie_over_each_other_the_worst_first(
    make: Make, report: Report, task: str, drawn: str
) -> None:
    text = report(make(task))
    page = Page(text)
    seen = tags(page, "svg", "seen")
    assert len(seen) == 3 and all(each["viewbox"] == "0 0 80 60" for each in seen)
    assert str(seen[0]["aria-label"]).startswith("2.png:")
    for side in ("truth", "answer"):
        assert any(drawn in part.split("</g>")[0] for part in text.split(f'<g class="of-{side}">')[1:])
    assert "Quality of samples" in page.text and "<b>dog" not in text and "<script" not in text


def test_classes_of_pixels_are_told_which_is_taken_for_which(make: Make, report: Report) -> None:
    record = make("semantic_segmentation")
    page = Page(report(record))
    assert "What is taken for what" in page.text and record.details["pixel_confusion"][0]["count"] == 360
    assert "Pixels of one class that were answered as another" in page.text


def test_an_enhancers_report_has_a_line_between_truth_and_answer_that_keys_move(
    make: Make, report: Report, browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report(make("image_enhancement")), encoding="utf-8")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    slider = page.get_by_role("slider", name="2.png: line between truth and answer")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator(".pair").first.evaluate("each => each.style.getPropertyValue('--share')") == "0%"
    assert page.get_by_text("PSNR").count() > 3 and sticks_out(page) == [] and complaints == []


@pytest.mark.parametrize("task", [each for each in WORLDS if each != "image_enhancement"])
def test_the_page_fits_every_screen_and_sides_are_hidden(
    make: Make, report: Report, browser: Any, tmp_path: Path, task: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(report(make(task)), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(path.as_uri())
    for each in page.locator("details").all():
        each.evaluate("each => { each.open = true }")
    assert sticks_out(page) == []
    if task != "multilabel_classification":
        truth = page.locator(".seen .of-truth").first
        assert truth.evaluate("each => getComputedStyle(each).display") != "none"
        page.get_by_label("Truth", exact=True).press("Space")
        assert truth.evaluate("each => getComputedStyle(each).display") == "none"


@pytest.mark.parametrize("task", WORLDS)
def test_a_dataset_that_has_gone_costs_its_pictures_only(make: Make, report: Report, tmp_path: Path, task: str) -> None:
    record = make(task)
    shutil.rmtree(tmp_path / "world" / "pictures")
    text = report(record)
    assert "the dataset cannot be read any more" in Page(text).text
    assert ("not available any more" in text) == (task == "semantic_segmentation")
    assert ('class="of-answer"><title>' in text) == (task not in ("image_enhancement", "multilabel_classification"))


def test_each_class_has_its_own_curve(make: Make, report: Report) -> None:
    record = make("instance_segmentation")
    assert [each["class"] for each in record.details["precision_recall_classes"]] == [1, 0]
    text = report(record)
    assert text.count('<details name="class-curve">') == 2
    assert text.index("<bdi>cat</bdi> <span") < text.index("<bdi>&lt;b&gt;dog&lt;/b&gt;</bdi> <span")


def test_qualities_are_counted_and_described() -> None:
    chart = qualities([3, *[0] * 18, 1])
    assert 'aria-label="Quality of 4 samples; 3 of them below 50 %"' in chart and "0 – 5 %: 3" in chart


def test_misnamed_boxes_of_all_pictures_are_summed() -> None:
    facts = [{"confused": [[0, 1, 2]]}, {}, {"confused": [[0, 1, 1], [2, 0, 9]]}]
    assert summed(facts) == [{"label": 2, "answer": 0, "count": 9}, {"label": 0, "answer": 1, "count": 3}]
