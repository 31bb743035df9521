"""Pitfalls of sounds: every edit is a plan of its own, every input is edited alike, and what was planted is named."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

import sound_world
import table_world
from budget import at_night_but
from mlmodelscope import Options, Settings
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import PITFALLS, variants_of
from mlmodelscope.replicate.pitfall.explanation import explanation_of
from mlmodelscope.replicate.replication import replicate
from replicate.planned import AnyPins, names_of

pytest.importorskip("soxr")
OURS = {name for name, each in PITFALLS.items() if each.parts == ("audio",)}
RECIPES: dict[str, list[Any]] = {
    "bands": sound_world.RIGHT,
    "cepstra": [
        {"decode_audio": {"scale": "int16"}},
        {"normalize_sound": "maximum"},
        {"fix_length": 16000},
        {"frames": {"length": 640, "hop": 320}},
        {"remove_dc": {}},
        {"preemphasis": {"coefficient": 0.97, "first": "repeat"}},
        {"window": {"shape": "povey", "kind": "symmetric"}},
        {"spectrum": {"n_fft": 1024, "power": 1}},
        {"mel": {"count": 40, "low": 20, "high": 4000, "scale": "htk", "norm": "none", "triangles": "mel"}},
        {"log": {"base": "natural", "floor": 1e-10}},
        {"mfcc": {"count": 10, "norm": "htk"}},
        {"normalize_features": {"over": "time"}},
        {"feature_layout": "FT"},
    ],
    "Whisper": [
        {"decode_audio": {}},
        {"mono": "mean"},
        {"assume_rate": 16000},
        {"fix_length": {"seconds": 30}},
        {"frames": {"length": 400, "hop": 160, "edges": "center", "padding": "reflect", "drop_last": True}},
        {"window": "hann"},
        {"spectrum": {}},
        {"mel": {"count": 80, "scale": "slaney", "norm": "slaney"}},
        {"log": {"base": "10", "floor": 1e-10, "span": 8}},
        {"mean": -4},
        {"rescale": 4},
        {"feature_layout": "CTF"},
    ],
    "samples": [{"decode_audio": {}}, {"mono": "left"}, {"normalize_sound": {"by": "variance", "epsilon": 1e-7}}],
}
LOST = ("not resampled", "as long as the file is", "no logarithm", "without preemphasis", "the level that the file has")
"""What was dropped is not always what people usually have there."""


def plan_of(steps: list[Any], *others: list[Any]) -> Plan:
    inputs = [
        {"type": "audio", "element_type": "float32", "layer_name": f"layer-{number}", "processing": each}
        for number, each in enumerate((steps, *others))
    ]
    data = {"name": "heard", "version": "1.0.0", "task": "audio_classification", "inputs": inputs}
    data |= {"framework": {"name": "fake", "version": "*"}, "source": {"graph_path": "heard.onnx"}}
    heard = {"name": "some", "version": "1.0.0", "task": "audio_classification", "format": "audio", "size": 4}
    dataset = load_manifest({**heard, "sources": [{"url": "some"}]})
    return make_plan(
        load_manifest(data | {"outputs": [{"type": "probability"}]}), dataset, Options(), describe_current(), AnyPins()
    )


def test_there_are_fifteen_and_each_has_a_page() -> None:
    assert len(OURS) == 15
    assert all("How to check" in explanation_of(name) for name in OURS)


def test_a_sound_has_pitfalls_of_its_own_and_none_of_pixels() -> None:
    found = {name for steps in RECIPES.values() for name in names_of(plan_of(steps))}
    assert found >= OURS
    assert not found & {"color-layout", "resizing", "normalization", "type-conversion", "text-case", "feature-order"}


def test_tables_have_none_of_sounds(tmp_path: Any) -> None:
    pytest.importorskip("sklearn.datasets")
    right, model, dataset = table_world.diabetes_bed(tmp_path)
    assert not names_of(make_plan(model(right), dataset, Options(), describe_current(), AnyPins())) & OURS


def test_only_what_its_steps_can_have_is_tried() -> None:
    raw = names_of(plan_of(RECIPES["samples"])) & OURS
    assert raw == {"sample-rate", "channel-mix", "amplitude-range", "sound-length"}
    assert names_of(plan_of(RECIPES["bands"])) & OURS == OURS - {"mfcc-parameters"}
    assert "resampler" not in names_of(plan_of(RECIPES["cepstra"]))


def test_bands_that_the_rate_cannot_have_are_not_tried() -> None:
    for each in variants_of(plan_of(RECIPES["bands"]), ["mel-range"]):
        bands = next(one for one in each.plan.inputs[0].steps if one.name == "mel")
        assert bands.parameters["high"] is None or bands.parameters["high"] <= 8000


@pytest.mark.parametrize("recipe", RECIPES)
def test_whoever_fell_into_one_finds_the_way_back(recipe: str) -> None:
    plan = plan_of(RECIPES[recipe])
    lost = [
        (each.pitfalls[0], each.words)
        for each in variants_of(plan, sorted(OURS))
        if plan.digest not in {back.key for back in variants_of(each.plan, each.pitfalls)}
    ]
    assert not [each for each in lost if each[1] not in LOST]


def test_every_input_that_the_sound_feeds_is_edited_alike() -> None:
    """One input takes the features, another how many frames they have, whichever comes first."""
    steps = RECIPES["bands"]
    for plan in (plan_of(steps, [*steps, {"extent": "length"}]), plan_of([*steps, {"extent": "length"}], steps)):
        made = variants_of(plan, sorted(OURS - {"feature-layout"}))
        assert {name for each in made for name in each.pitfalls} == OURS - {"feature-layout", "mfcc-parameters"}
        for variant in made:
            one, other = ([each for each in given.steps if each.name != "extent"] for given in variant.plan.inputs)
            assert one == other


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> sound_world.Bed:
    return sound_world.sound_bed(tmp_path_factory.mktemp("sounds"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    place = tmp_path_factory.mktemp("heard")
    return Settings(place / "home", place / "cache")


def having(at: int, **new: Any) -> Callable[[list[Any]], None]:
    def change(steps: list[Any]) -> None:
        ((name, given),) = steps[at].items()
        steps[at] = {name: {**given, **new}}

    return change


FAULTS: dict[str, tuple[str, Callable[[list[Any]], None]]] = {
    "not resampled": ("sample-rate", lambda steps: steps.pop(2)),
    "taken for 16000 Hz": ("sample-rate", lambda steps: steps.__setitem__(2, {"assume_rate": 16000})),
    "a low-quality filter": ("resampler", having(2, kernel="LQ")),
    "left channel": ("channel-mix", lambda steps: steps.__setitem__(1, {"mono": "left"})),
    "16 bits": ("amplitude-range", having(0, scale="int16")),
    "preemphasis": ("preemphasis", lambda steps: steps.insert(3, {"preemphasis": 0.97})),
    "whole frames": ("frame-edges", having(3, edges="cut")),
    "Hamming": ("window-kind", having(4, shape="hamming")),
    "magnitudes": ("spectrum-power", having(5, power=1)),
    "Slaney": ("mel-scale", having(6, scale="slaney")),
    "from 125 Hz": ("mel-range", having(6, low=125)),
    "base 10": ("log-kind", having(7, base="10")),
    "normalized": ("feature-normalization", lambda steps: steps.append({"normalize_features": {"over": "all"}})),
    "one second": ("sound-length", lambda steps: steps.insert(3, {"fix_length": {"seconds": 1}})),
}


@pytest.fixture(scope="module")
def published(bed: sound_world.Bed, home: Settings) -> Any:
    right, model, dataset = bed
    asked = parse_claim("log-loss=9@tones")
    done = replicate(model(right), dataset, Options(timed_runs=2), claim=asked, settings=home, explain=False)
    assert done.record.failed == 0 and done.record.metrics["top1"].value > 0.6
    return parse_claim(f"log-loss={done.verdict.measured.value:.4f}@tones")


def cause_of(name: str, bed: sound_world.Bed, home: Settings, claim: Any) -> tuple[str, ...]:
    """The first pitfall that a search names."""
    steps = copy.deepcopy(bed[0])
    FAULTS[name][1](steps)
    done = replicate(bed[1](steps), bed[2], Options(timed_runs=2), claim=claim, settings=home)
    assert done.verdict.kind == "not reproduced" and done.found is not None
    return done.found.candidates[0].variant.pitfalls


def test_variants_that_answer_nothing_do_not_end_a_search(bed: sound_world.Bed, home: Settings, published: Any) -> None:
    """Features x time are no input of this model, so that each sound fails and there is no log loss at all."""
    assert cause_of("not resampled", bed, home, published) == ("sample-rate",)


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
@pytest.mark.parametrize(
    "name",
    at_night_but([name for name in FAULTS if name != "not resampled"], "a low-quality filter", "Hamming", "one second"),
)
def test_what_is_wrong_is_named_first(bed: sound_world.Bed, home: Settings, published: Any, name: str) -> None:
    assert cause_of(name, bed, home, published) == (FAULTS[name][0],)
