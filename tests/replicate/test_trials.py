"""Variants tried together answer as they would alone, and what they share is computed once."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope import Settings, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.claim import Claim
from mlmodelscope.plan.options import Options
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.describe import describe_search
from mlmodelscope.replicate.export import to_json, to_junit, to_markdown
from mlmodelscope.replicate.replication import open_trials, replicate
from mlmodelscope.replicate.sensitivity import measure_in, sensitivity
from mlmodelscope.replicate.stratified_sampling import by_class
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.answers import Batch
from mlmodelscope.worker.client import Worker
from worker_package.predictor import onnx_models

TOP_K = Options(top_k=10)


@pytest.fixture
def record(settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable) -> Record:
    return evaluate(make_model(), make_dataset(make_pictures(count=12)), TOP_K, settings=settings)


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.nightly)])
def test_each_variant_answers_as_it_would_alone(record: Record, settings: Settings, every: int) -> None:
    with open_trials(record, settings, Watcher()) as trials:
        trials.ask((each.plan for each in trials.possible), range(12))
        assert len(trials.possible) > 10
        artifacts = ArtifactStore(settings)
        for variant in trials.possible[::every]:
            with Worker(provision(variant.plan, artifacts), variant.plan) as worker:
                batches = [Batch(at, [sample]) for at, sample in enumerate(trials.dataset.samples)]
                for answers in worker.run(batches):
                    at, found = answers.batch, trials.answer(variant.plan, answers.batch)
                    if answers.errors:
                        assert found is None, variant.words
                    else:
                        assert found is not None, variant.words
                        assert answers.rows[0].classes == found.classes, variant.words
                        assert at == answers.batch


def test_what_variants_share_is_computed_once(record: Record, settings: Settings) -> None:
    with open_trials(record, settings, Watcher(), ["label-offset", "color-layout"]) as trials:
        plans = [each.plan for each in trials.possible]
        trials.ask(plans, range(12))
        asked = trials.cost.calls
        assert trials.cost.asked == 12 * len(plans) and asked == 12  # one pipeline is new: the other colour
        trials.ask(plans, range(12))
        assert trials.cost.calls == asked


def test_variants_with_the_same_tensors_share_a_call(record: Record, settings: Settings) -> None:
    with open_trials(record, settings, Watcher(), ["exif"]) as trials:  # these pictures carry no orientation
        trials.give({})
        trials.ask((trials.plan, *(each.plan for each in trials.possible)), range(12))
        assert trials.cost.calls <= 12


@pytest.fixture
def colours(tmp_path: Path, make_dataset: Callable) -> DatasetManifest:
    """Red, green and blue pictures, as classes of these names."""
    for number, name in enumerate(("1-red", "2-green", "3-blue")):
        (tmp_path / "colours" / name).mkdir(parents=True)
        for shade in range(20):
            color = [40, 40, 40]
            color[number] = 150 + 5 * shade
            Image.new("RGB", (12, 10), tuple(color)).save(tmp_path / "colours" / name / f"{shade}.png")
    dataset = make_dataset(tmp_path / "colours", size=60)
    assert isinstance(dataset, DatasetManifest)
    return dataset


def seer(tmp_path: Path, color_layout: str) -> ModelManifest:
    """A model whose scores are the mean red, green and blue of a picture."""
    graph = onnx_models.one_step(tmp_path, "GlobalAveragePool", ("n", 3, 8, 8), ("n", 3, 1, 1))["graph"]
    processing = {"decode": {"color_layout": color_layout}, "resize": [3, 8, 8], "rescale": 255, "layout": "NCHW"}
    manifest = load_manifest(
        {
            "name": "seer",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "onnxruntime"},
            "inputs": [{"type": "image", "processing": processing}],
            "outputs": [{"type": "logits"}],
            "source": {"graph_path": graph},
        }
    )
    assert isinstance(manifest, ModelManifest)
    return manifest


def test_a_claim_that_holds_is_reproduced(tmp_path: Path, settings: Settings, colours: DatasetManifest) -> None:
    claim = Claim("top1", "100.0", colours.name)
    done = replicate(seer(tmp_path, "RGB"), colours, claim=claim, settings=settings)
    assert done.verdict.kind == "reproduced" and done.found is None


def test_the_pitfall_that_explains_a_claim_is_named(
    tmp_path: Path, settings: Settings, colours: DatasetManifest
) -> None:
    claim = Claim("top1", "100.0", colours.name)
    done = replicate(seer(tmp_path, "BGR"), colours, claim=claim, settings=settings)
    assert (
        done.verdict.kind == "not reproduced"
        and done.verdict.measured.value == pytest.approx(1 / 3)
        and done.found is not None
    )
    assert [each.variant.pitfalls for each in done.found.explained] == [("color-layout",)]
    assert done.found.candidates[0].variant.words == "RGB instead of BGR"


def test_programs_are_told_the_same(tmp_path: Path, settings: Settings, colours: DatasetManifest) -> None:
    done = replicate(seer(tmp_path, "BGR"), colours, claim=Claim("top1", "100.0", colours.name), settings=settings)
    suite = ElementTree.fromstring(to_junit(done))
    failure = suite.find("testcase/failure")
    assert suite.get("failures") == "1" and failure is not None and "RGB instead of BGR" in (failure.text or "")
    assert to_json(done)["explained_by"][0]["pitfalls"] == ["color-layout"]
    assert "not reproduced" in to_markdown(done) and "| color-layout |" in to_markdown(done)


def test_where_nothing_explains_a_claim_that_is_said(
    tmp_path: Path, settings: Settings, colours: DatasetManifest
) -> None:
    claim = Claim("top1", "78.3", colours.name)
    done = replicate(seer(tmp_path, "BGR"), colours, claim=claim, settings=settings)
    assert done.verdict.kind == "not reproduced" and done.found is not None and not done.found.explained
    assert "Nothing that was tried explains" in " ".join(describe_search(done.found, done.verdict))


def test_the_cost_of_each_pitfall_is_told(record: Record, settings: Settings) -> None:
    effects = sensitivity(record, settings)
    right = [round(each.after * each.samples) for each in effects]
    assert right == sorted(right)
    for each, count in zip(effects, right, strict=True):
        assert count == round(each.before * each.samples) + each.gained - each.lost
        assert each.difference.low <= each.difference.value <= each.difference.high and 0 <= each.p_value <= 1
    assert any(each.same_as == "the manifest as it is" for each in effects)  # exif, of pictures that have none


def test_a_budget_bounds_what_the_cost_of_pitfalls_takes(
    record: Record, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlmodelscope.replicate.sensitivity._LEAST", 2)
    with open_trials(record, settings, Watcher()) as trials:
        budget = 4 * len(trials.possible) / len(trials.labelled)
        found = measure_in(trials, exact=False, budget=budget)
        assert found.effects and {each.samples + each.failed for each in found.effects} == {4}
        assert all(each.samples < len(trials.labelled) for each in found.effects)
        with pytest.raises(UsageError, match="has no budget"):
            measure_in(trials, exact=True, budget=1)


def test_however_small_a_budget_some_samples_are_seen(record: Record, settings: Settings) -> None:
    with open_trials(record, settings, Watcher()) as trials:
        found = measure_in(trials, exact=False, budget=0)
        assert all(each.samples + each.failed == len(trials.labelled) for each in found.effects)


def test_every_beginning_of_the_order_has_its_share_of_each_class(record: Record, settings: Settings) -> None:
    trials = open_trials(record, settings, Watcher())
    order = by_class(trials.dataset, 1)
    assert sorted(order) == list(range(12))
    first = [trials.dataset.samples[at].label for at in order[:6]]
    assert all(first.count(label) == 2 for label in set(first))
