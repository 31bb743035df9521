"""Studies of one detail: what it does to the accuracy, to one input, and what the paper says."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mlmodelscope import Settings
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.study import STUDIES, Request


@pytest.fixture
def request_(seer: ModelManifest, colours: DatasetManifest, settings: Settings) -> Request:
    return Request(model=seer, dataset=colours, settings=settings)


def test_colours_the_wrong_way_round_flip_what_colour_decides(request_: Request) -> None:
    outcome = STUDIES["color-layout"].run(request_)
    accuracy, best = outcome.tables
    own, swapped = accuracy.rows
    assert (own["top1"], swapped["top1"]) == (1.0, pytest.approx(1 / 3))
    assert swapped["flips"] == 12 and swapped["p_value"] == pytest.approx(2 / 2**12)
    assert (own["paper_top1"], swapped["paper_top1"]) == (0.7841, 0.6744)
    classes = [best.rows[0][column.key]["class"] for column in best.columns[1:]]
    assert sorted(classes) == ["1-red", "3-blue"]
    assert any("others here" in note for note in outcome.notes)
    assert outcome.records


def test_programs_are_told_the_same(request_: Request) -> None:
    body = STUDIES["color-layout"].run(request_).to_json("color-layout")
    assert body["study"] == "color-layout" and body["paper"][0]["place"] == "Figure 3, Table 1"
    assert body["tables"]["accuracy"][1]["variant"] == "BGR instead of RGB"
    assert {fact["place"] for fact in body["facts"]} == {"Figure 3", "Figure 4"}


def test_the_plot_marks_what_the_paper_found_and_shows_the_pictures(request_: Request) -> None:
    chart = STUDIES["color-layout"].run(request_).chart
    assert chart is not None
    drawn = ElementTree.fromstring(chart)
    assert len(drawn.findall(".//{*}circle[@class='paper']")) == 1
    pictures = [image.get("href", "") for image in drawn.findall(".//{*}image")]
    assert len(pictures) == 3 and all(address.startswith("data:image/") for address in pictures)


@pytest.mark.parametrize("name", ["data-layout", "decoding", "cropping", "type-conversion"])
def test_each_detail_has_its_study(name: str, request_: Request) -> None:
    outcome = STUDIES[name].run(request_)
    assert len(outcome.tables[0].rows) > 1 and outcome.tables[1].rows
    for table in outcome.tables:
        assert all(len(line) == len(table.columns) for line in table.texts())


def test_another_decoder_is_compared_pixel_by_pixel(request_: Request) -> None:
    pixels = STUDIES["decoding"].run(request_).tables[2]
    rows = {row["variant"]: row for row in pixels.rows}
    assert rows["decoded by opencv"]["differing"] == 0  # a PNG has one meaning only


def test_table_1_has_this_model_above_the_papers(request_: Request) -> None:
    table, variants = STUDIES["table1"].run(request_).tables
    assert table.rows[0]["model"] == "seer@1.0.0, here" and len(table.rows) == 7
    assert table.rows[0]["measured"][0] == 1.0 and table.rows[1]["color-layout"] == (0.6744, 0.8844)
    assert {row["pitfall"] for row in variants.rows} >= {"color-layout", "data-layout"}


def test_a_limit_takes_of_each_class_its_share(
    seer: ModelManifest, colours: DatasetManifest, settings: Settings
) -> None:
    outcome = STUDIES["color-layout"].run(Request(model=seer, dataset=colours, settings=settings, limit=6))
    assert outcome.tables[0].rows[1]["samples"] == 6
    assert outcome.tables[0].rows[1]["top1"] == pytest.approx(1 / 3)


def test_nothing_is_right_or_wrong_without_labels(
    seer: ModelManifest,
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Path],
    settings: Settings,
) -> None:
    dataset = make_dataset(make_pictures(3), format="files")
    with pytest.raises(UsageError, match="has no labels"):
        STUDIES["color-layout"].run(Request(model=seer, dataset=dataset, settings=settings))


def test_a_model_whose_steps_are_its_own_code_has_no_variants(
    make_dataset: Callable[..., DatasetManifest], make_pictures: Callable[..., Path], settings: Settings, tmp_path: Path
) -> None:
    model = tmp_path / "own.yml"
    model.write_text(
        "name: own\nversion: 1.0.0\ntask: classification\ninputs: [{type: image}]\noutputs: [{type: classes}]\n"
        "preprocess:\n  gets: sample\n  code: |\n    def preprocess(ctx, data):\n        return [1.0]\n"
        "run: |\n  def run(ctx, data):\n      return data[0]\n"
        "postprocess: |\n  def postprocess(ctx, data):\n      return [0 for _ in data]\n"
    )
    dataset = make_dataset(make_pictures(3))
    for name in ("color-layout", "table1", "language", "cold-start"):
        with pytest.raises(PlanError, match="code of its own"):
            STUDIES[name].run(Request(model=model, dataset=dataset, settings=settings, trust=True))


def test_a_pitfall_that_a_model_cannot_fall_into_is_refused_in_words(
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Path],
    settings: Settings,
) -> None:
    uncropped = make_model(inputs=[{"type": "image", "processing": {"decode": {}, "layout": "NCHW"}}])
    dataset = make_dataset(make_pictures(count=1, classes=1, side=8))
    with pytest.raises(PlanError, match="no such step") as refused:
        STUDIES["cropping"].run(Request(model=uncropped, dataset=dataset, settings=settings))
    assert refused.value.hint
