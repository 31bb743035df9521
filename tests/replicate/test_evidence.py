"""Evidence: which samples flip, and what the model sees of them, in words, for programs and in pictures."""

import base64
import io
import json
from dataclasses import replace

import pytest
from PIL import Image

from mlmodelscope import Settings
from mlmodelscope.replicate.evidence import Evidence, Flip, Sight, collect, evidence_json
from mlmodelscope.replicate.evidence_text import (
    Abilities,
    abilities_of,
    describe_difference,
    evidence_lines,
    half_blocks,
    stretched,
)
from mlmodelscope.replicate.finding import Flip as FoundFlip
from mlmodelscope.replicate.finding import Shown
from mlmodelscope.replicate.pitfall import Variant, variants_of
from mlmodelscope.replicate.pitfall.pitfall import step, steps_of, with_steps
from mlmodelscope.replicate.replication import Replication, open_trials
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.variants import Picture, View
from replicate.conftest import Scene
from replicate.scenes import evidence_of


@pytest.fixture
def settings(scene: Scene) -> Settings:
    return scene.settings


@pytest.fixture
def evidence(scene: Scene) -> Evidence:
    return scene.evidence


def shown(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB")


def test_the_samples_whose_answer_flips_are_found(evidence: Evidence) -> None:
    assert evidence.compared == 12 and len(evidence.flips) == 8  # green stays green
    assert (evidence.count("fixed"), evidence.count("broken"), evidence.count("other answer")) == (8, 0, 0)
    first = evidence.flips[0]
    assert first.label in ("1-red", "3-blue") and first.after[0].name == first.label and first.after[0].is_right
    assert [each.change for each in evidence.flips] == sorted((each.change for each in evidence.flips), reverse=True)


def test_only_the_most_telling_are_looked_at(evidence: Evidence) -> None:
    assert len(evidence.shown) == 3 and evidence.shown == evidence.flips[:3]


def test_before_and_after_show_the_fault(evidence: Evidence) -> None:
    body = evidence_json(evidence)["flips"][0]
    after, before = (shown(body["seen"][when]["picture"]).getpixel((0, 0)) for when in ("after", "before"))
    assert after == before[::-1] and after != before
    apart = body["seen"]["difference"]
    assert apart["largest"] == pytest.approx(1 / apart["stretch"] * (body["seen"]["scale"]["high"] - 40 / 255))
    assert max(shown(apart["picture"]).getpixel((0, 0))) == 255


def test_programs_can_read_it(evidence: Evidence) -> None:
    body = json.loads(json.dumps(evidence_json(evidence)))
    assert (body["pitfalls"], body["samples"], body["fixed"]) == (["color-layout"], 12, 8)
    assert len(body["flips"]) == 8 and "seen" not in body["flips"][-1]


def test_an_answer_that_is_only_read_otherwise_shows_one_picture(done: Replication, settings: Settings) -> None:
    evidence = evidence_of(done, settings, "label-offset")
    sight = evidence.flips[0].sight
    assert sight is not None and sight.is_same and sight.before == sight.after and sight.difference is None
    assert "only its answer is read otherwise" in describe_difference(sight)


def test_tensors_of_different_shapes_are_shown_without_a_difference(done: Replication, settings: Settings) -> None:
    plan = done.record.plan
    larger = tuple(step("resize", dimensions=[9, 7]) if each.name == "resize" else each for each in steps_of(plan))
    cause = Variant(("resizing",), "another size", with_steps(plan, larger))
    with open_trials(done.record, settings, Watcher(), []) as trials:
        trials.add([cause])
        evidence = collect(trials, cause, 1)
    sight = evidence.flips[0].sight
    assert sight is not None and sight.difference is None
    assert sight.before.picture is not None and sight.after.picture is not None and sight.after.picture.height == 9
    assert "the shapes differ (float32 3 x 8 x 8 before, float32 3 x 9 x 7 after)" in describe_difference(sight)


def test_a_sample_that_cannot_be_read_any_more_costs_its_picture(done: Replication, settings: Settings) -> None:
    with open_trials(done.record, settings, Watcher(), ["color-layout"]) as trials:
        cause = variants_of(done.record.plan, ["color-layout"])[0]
        trials.ask((cause.plan,), range(12))
        samples = trials.dataset.samples
        samples[:] = [replace(each, content={"file": "/nowhere.png"}) for each in samples]
        sight = collect(trials, cause, 1).flips[0].sight
    assert sight is not None and sight.after.picture is None
    assert describe_difference(sight) == "cannot read it: No such file or directory."


# As text.


def test_a_terminal_shows_blocks_and_anything_else_plain_letters(evidence: Evidence) -> None:
    blocks = "\n".join(evidence_lines(evidence, Abilities(100, blocks=True)))
    plain = "\n".join(evidence_lines(evidence, Abilities(100)))
    assert "█" in blocks and "✓ 1-red" in blocks and "\x1b" not in blocks
    assert plain.isascii() and "* 1-red" in plain and "####" in plain
    assert plain.startswith("Of 12 samples, 8 become right, 0 become wrong, 0 get another wrong answer.")
    assert all(len(line) <= 100 for line in plain.splitlines())


def test_pictures_are_drawn_where_all_colours_are_known(evidence: Evidence) -> None:
    lines = list(evidence_lines(evidence, Abilities(100, blocks=True, colors=True)))
    drawn = [line for line in lines if "▀" in line]
    assert drawn and all(line.endswith("\x1b[0m") for line in drawn)


def test_half_a_character_is_a_pixel() -> None:
    picture = Picture(2, 1, 3, bytes([255, 0, 0, 0, 0, 255]))
    assert list(half_blocks(picture, 1)) == ["\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀\x1b[0m"]


@pytest.mark.parametrize(
    ("is_terminal", "encoding", "environment", "expected"),
    [
        (False, "utf-8", {"COLORTERM": "truecolor"}, Abilities(80)),
        (True, "utf-8", {}, Abilities(80, blocks=True)),
        (True, "utf-8", {"COLORTERM": "truecolor"}, Abilities(80, blocks=True, colors=True)),
        (True, "utf-8", {"COLORTERM": "truecolor", "NO_COLOR": "1"}, Abilities(80, blocks=True)),
        (True, "ascii", {"COLORTERM": "truecolor"}, Abilities(80)),
    ],
)
def test_what_the_output_can_show(
    is_terminal: bool, encoding: str, environment: dict[str, str], expected: Abilities
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    stream.isatty = lambda: is_terminal  # type: ignore[method-assign]
    assert abilities_of(stream, environment, 80) == expected


def test_names_of_classes_cannot_steer_the_terminal(evidence: Evidence) -> None:
    flip = replace(evidence.flips[0], label="red\x1b[2J", sample="a\nb")
    text = "\n".join(evidence_lines(replace(evidence, flips=(flip, flip, flip, flip)), Abilities(100, blocks=True)))
    assert "\x1b" not in text and "a?b is red?[2J" in text


def test_a_failed_sample_has_no_answers_to_show() -> None:
    blank = View(None, "it is broken")
    flip = Flip("a", "broken", "red", (), (), 0.0, Sight(blank, blank))
    assert describe_difference(Sight(blank, blank)) == "it is broken."
    some = Evidence(Variant(("p",), "words", None), 1, (flip, flip, flip, flip), True)  # type: ignore[arg-type]
    assert "failed" in "\n".join(evidence_lines(some, Abilities(100)))


@pytest.mark.parametrize(("stretch", "words"), [(1.0, "as it is"), (31.4, "× 31"), (0.91, "× 0.91"), (0.01, "÷ 1e+02")])
def test_how_far_a_difference_is_stretched(stretch: float, words: str) -> None:
    assert stretched(stretch) == words


def test_findings_of_older_versions_are_read_by_the_former_names() -> None:
    flip = FoundFlip(sample="a", kind="wrong now", change=0.1, before=(), after=())
    old = {
        "pitfalls": ["color-layout"],
        "words": "BGR",
        "samples": 9,
        "right_now": 3,
        "wrong_now": 1,
        "other_answer": 0,
    }
    shown = Shown.model_validate(old)
    assert flip.kind == "broken" and (shown.fixed, shown.broken) == (3, 1)
