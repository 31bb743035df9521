"""Draw docs/images/pitfalls/: what a model sees as it should, with each pitfall, and the difference between the two.

Made by the product's own code from photographs of imagenet-70 with efficientnet-lite0. `pictures.json` beside them
says what was seen; `tools/make_docs.py` makes captions of it. What models of other tasks answer is drawn by
`pitfall_answers.py`; `python tools/make_pitfall_pictures.py answers` draws only that.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image
from pitfall_answers import draw_answers

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.evaluation import evaluate
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.evidence_text import stretched
from mlmodelscope.replicate.pitfall import Variant, variants_of
from mlmodelscope.replicate.pitfall.pitfall import step, steps_of, with_steps
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.variants import Picture

FOLDER = Path(__file__).parent.parent / "docs" / "images" / "pitfalls"
GAP = 8
TURNED = 6  # EXIF: the camera was held on its side


@dataclass(frozen=True)
class Scene:
    """Which variant of a pitfall is drawn, and of which photograph."""

    pitfall: str
    words: str
    sample: str
    base: str = "as it is"
    """What the plan is changed to first, where the model's own has nothing to edit."""
    about: str = ""
    """What a reader must know of that."""


BIRD, BOAT = "robust-vision/ffdfc7f0e1e0e1c1_0141.png", "robust-vision/ffffef1d00010000_0554.png"
BURRITO, DRUM = "robust-vision/fff7b0f08100052c_0965.png", "foolbox/imagenet_10_541.jpg"
EAGLE, BUCKEYE = "foolbox/imagenet_17_22.jpg", "foolbox/imagenet_03_990.jpg"

HALF = "bilinear_half_pixel by numpy"
OTHER_MEAN = ("ImageNet's mean and deviation", "of a model that takes ImageNet's mean and deviation")

SCENES = [
    Scene("color-layout", "BGR instead of RGB", BURRITO),
    Scene("data-layout", "height and width swapped", BOAT),
    Scene("decoding", "decoded by simplejpeg, fast DCT", EAGLE),
    Scene("exif", "EXIF orientation: apply", EAGLE, "turned", "of a file that was given such a note"),
    Scene("cropping", "no crop: the whole picture squeezed in", BOAT),
    Scene("crop-order", "resized, then cropped", DRUM),
    Scene("crop-offset", "the corner instead of the centre", BIRD),
    Scene("resizing", "nearest by opencv", BUCKEYE),
    Scene("half-pixel", "bilinear_align_corners by numpy", BUCKEYE, HALF, f"beside {HALF}"),
    Scene("normalization", "values from 0 to 1", BIRD),
    Scene("mean-order", "means of the channels the other way round", BOAT, *OTHER_MEAN),
    Scene("normalization-order", "divided first, then the mean subtracted", BIRD, *OTHER_MEAN),
    Scene("type-conversion", "`mean` computed in uint8", EAGLE),
    Scene("quantization", "zero point 0", BURRITO, "quantised", "of a model whose zero point is 127"),
]


def main() -> None:
    settings, notes = Settings.from_environment(), FOLDER / "pictures.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    seen: dict[str, dict[str, object]] = json.loads(notes.read_text()) if notes.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:] != ["answers"]:
            seen = draw_inputs(settings, Path(folder))
        seen |= draw_answers(FOLDER, Path(folder), settings)
    notes.write_text(json.dumps(seen, indent=2) + "\n")


def draw_inputs(settings: Settings, folder: Path) -> dict[str, dict[str, object]]:
    """What a classifier sees."""
    record = evaluate("efficientnet-lite0", "imagenet-70", settings=settings)
    seen = {}
    with open_trials(record, settings, Watcher()) as trials:
        for scene in SCENES:
            seen[scene.pitfall] = draw(scene, trials, folder)
            sys.stdout.write(f"{scene.pitfall}: {seen[scene.pitfall]}\n")
    return seen


def draw(scene: Scene, trials: Trials, folder: Path) -> dict[str, object]:
    sample = next(each for each in trials.dataset.samples if each.id == scene.sample)
    plan = based(trials.plan, scene.base)
    if scene.base == "turned":
        sample = turned(sample, folder)
    wrong = find(plan, scene.pitfall, scene.words)
    right_view, wrong_view = trials.worker_of(trials.plan).look(sample, [plan, wrong.plan])
    apart = wrong_view.difference
    assert apart is not None and apart.stretch is not None, scene
    panels = [opened(each) for each in (right_view.picture, wrong_view.picture, apart.picture)]
    side = panels[0].height
    sheet = Image.new("RGB", (sum(each.width for each in panels) + 2 * GAP, side), "white")
    for at, panel in enumerate(panels):
        sheet.paste(panel, (at * (panel.width + GAP), 0))
    sheet.save(FOLDER / f"{scene.pitfall}.jpg", quality=82, optimize=True)
    compared, before, after = count(trials, plan, wrong) if scene.base == "as it is" else (None, None, None)
    return {
        "words": scene.words,
        "sample": scene.sample,
        "about": scene.about,
        "largest": apart.largest,
        "mean": apart.mean,
        "stretched": stretched(apart.stretch),
        "samples": len(trials.dataset.samples),
        "compared": compared,
        "right_before": before,
        "right": after,
    }


def find(plan: Plan, pitfall: str, words: str) -> Variant:
    known = variants_of(plan, [pitfall])
    found = [each for each in known if each.words == words]
    if not found:
        sys.exit(f"{pitfall} has no variant `{words}`; it has: {', '.join(each.words for each in known)}")
    return found[0]


def based(plan: Plan, base: str) -> Plan:
    if base == "quantised":
        made = with_steps(plan, (*steps_of(plan), step("quantize", scale=1 / 128, zero_point=127)))
        first, *others = made.inputs  # only a model that takes integers can be told wrong ones
        return made.model_copy(update={"inputs": (first.model_copy(update={"element_type": "uint8"}), *others)})
    if base in ("as it is", "turned"):
        return plan
    return next(each.plan for each in variants_of(plan) if each.words == base)


def turned(sample: Sample, folder: Path) -> Sample:
    """The same file with a note that the camera was turned: the pixels stay."""
    data = Path(sample.content["file"]).read_bytes()
    exif = Image.Exif()
    exif[0x0112] = TURNED
    note = exif.tobytes()
    path = folder / "turned.jpg"
    path.write_bytes(data[:2] + b"\xff\xe1" + (len(note) + 2).to_bytes(2, "big") + note + data[2:])
    return replace(sample, content={"file": str(path)})


def count(trials: Trials, plan: Plan, wrong: Variant) -> tuple[int, int, int]:
    """(samples that are answered both ways, how many are right, how many are with the pitfall)."""
    everything = range(len(trials.dataset.samples))
    trials.ask((plan, wrong.plan), everything)
    both = [at for at in everything if trials.answer(plan, at) and trials.answer(wrong.plan, at)]
    before, after = (sum(trials.is_right(each, at, 1) for at in both) for each in (plan, wrong.plan))
    return len(both), before, after


def opened(picture: Picture | None) -> Image.Image:
    assert picture is not None
    mode = "RGB" if picture.channels == 3 else "L"
    return Image.frombytes(mode, (picture.width, picture.height), picture.pixels).convert("RGB")


if __name__ == "__main__":
    main()
