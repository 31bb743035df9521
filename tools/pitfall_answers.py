"""Pictures of what detectors, segmenters and enhancers answer: as it should be, and with a pitfall.

By models of the catalog, drawn as `predict --draw` draws them, on a picture that the wheel of scikit-image carries (the
portrait of an astronaut by NASA, in the public domain) and on a text that is drawn here. Everything comes from package
registries. Boxes are drawn over gray pictures, where they are seen best.

Left out are the pitfalls of which nothing is to be seen in an answer:
- those of scoring, which change the number and no answer: absent-classes, area-of-things, border, crowd, data-range,
  difficult, mask-offset, measured-color, ssim-window, uncovered-pixels, void-label, voc-overlap, voc-points;
- those that move less than eyes see: box-plus-one, crop-multiple, map-resizing, map-threshold, picture-clipping,
  picture-rounding;
- those that need more classes or more things than these models find here: background-class, class-ids, map-background,
  map-order, max-detections, nms-threshold.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageStat

from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.prediction import OpenModel, Prediction, plan_prediction
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.replicate.pitfall import variants_of
from mlmodelscope.replicate.pitfall.answering import answer_step, edited, with_answers
from mlmodelscope.replicate.pitfall.pitfall import find, step, steps_of, with_steps
from mlmodelscope.report.drawing import draw
from mlmodelscope.settings import Settings
from mlmodelscope.task.shape import BoxShape, MaskShape, PictureShape, Shape

SOURCE = "pypi:scikit-image==0.26.0/skimage/data"
GAP = 8
MOST_WIDE = 320
"""Pixels of one panel."""
FACES, TEXT, ENLARGED = "blazeface-short-range", "ppocr-v4-text-map", "realesr-animevideov3-x4"
BICUBIC = "bicubic interpolation"
BASELINE: dict[str, object] = {
    "name": "bicubic",
    "version": "1.0.0",
    "task": "image_enhancement",
    "framework": {"name": "fake"},
    "inputs": [
        {
            "type": "image",
            "element_type": "float32",
            "processing": [{"decode": {}}, {"luma": "studio"}, {"scale": 0.5}, {"scale": 2}, {"layout": "NCHW"}],
        }
    ],
    "outputs": [{"type": "image"}],
    "answer": [{"picture": "CHW"}, {"clip_picture": {}}],
    "source": {"graph_path": "echo.json"},
}
"""A model that answers with its input: luma that was shrunk and enlarged by 2."""


@dataclass(frozen=True)
class Scene:
    """Which variant of a pitfall is drawn, by which model and of which picture."""

    pitfall: str
    words: str
    model: str
    picture: str
    base: Callable[[Plan], Plan] = lambda plan: plan
    """What the plan is changed to first, where the model's own has nothing to edit."""
    about: str = ""
    """What a reader must know of that."""
    above: float = 0.3
    """Score from which on a box is drawn."""


def in_order(plan: Plan) -> Plan:
    """With a step that says what a box's numbers are, as it is for models whose boxes are decoded inside."""
    steps = plan.answer.steps
    at = next(place for place, each in enumerate(steps) if each.name == "decode_anchors") + 1
    return with_answers(plan, (*steps[:at], answer_step("boxes", order="xyxy", unit="pixel"), *steps[at:]))


def for_measuring(plan: Plan) -> Plan:
    """With the low threshold that average precision needs; the model's own is for looking."""
    at = next(place for place, each in enumerate(plan.answer.steps) if each.name == "threshold")
    return edited(plan, at, score=0.05)


def letterboxed(plan: Plan) -> Plan:
    """The same text map with proportions kept in a square, as other exports of it want it."""
    steps, side = steps_of(plan), 736
    at = find(plan, "resize_to_multiple")
    assert at is not None
    kept = step("resize", max_dimension=side, method="bilinear", library="opencv")
    border = step("pad", dimensions=[side, side], method="top_left", value=127.0)
    back = (answer_step("cut_padding"), answer_step("resize_back", method="nearest", alignment="pillow"))
    return with_answers(with_steps(plan, (*steps[:at], kept, border, *steps[at + 1 :])), (*plan.answer.steps, *back))


def degraded(plan: Plan) -> Plan:
    """Shrunk to a quarter first, as super-resolution is tested."""
    steps = steps_of(plan)
    return with_steps(plan, (steps[0], step("crop_multiple", multiple=4), step("scale", factor=0.25), *steps[1:]))


LOW = "of a manifest that keeps boxes from 0.05 on, as measuring needs them"
NAMED = "of a manifest that names the order and unit of boxes"
SQUARE = "of a manifest that pads the picture to a square"
SHRUNK = "of a picture that was shrunk to a quarter for the test"
SCENES = [
    Scene("box-order", "boxes as top, left, bottom, right", FACES, "astronaut", in_order, NAMED),
    Scene("box-unit", "boxes in pixels of the original picture", FACES, "astronaut", in_order, NAMED),
    Scene("letterbox", "stretched to the input's size", FACES, "wide"),
    Scene("nms-kind", "no suppression", FACES, "near"),
    Scene("score-threshold", "boxes with a score above 0.5", FACES, "astronaut", for_measuring, LOW, above=0.0),
    Scene("map-padding", "padding not cut off", TEXT, "text", letterboxed, SQUARE),
    Scene("answer-color", "the answer's channels are BGR", ENLARGED, "face"),
    Scene("answer-range", "the model answers with values from -1 to 1", ENLARGED, "face"),
    Scene("degrading", "bicubic by matlab without averaging", ENLARGED, "head", degraded, SHRUNK),
    Scene("luma-range", "luma of 0 to 255 as the input", BICUBIC, "portrait"),
]


def draw_answers(folder: Path, scratch: Path, settings: Settings) -> dict[str, dict[str, object]]:
    """Draw every scene into a folder; what was seen of each, for captions."""
    artifacts = ArtifactStore(settings)
    pictures = make_pictures(scratch, artifacts)
    plans: dict[str, Plan] = {}
    seen = {}
    for scene in SCENES:
        if scene.model not in plans:
            model = written_baseline(scratch) if scene.model == BICUBIC else scene.model
            plans[scene.model] = plan_prediction(model, Options(), settings=settings)
        right = scene.base(plans[scene.model])
        path = pictures[scene.picture]
        found = [answered(plan, path, artifacts) for plan in (right, edited_by(right, scene))]
        sheet(scene, path, found).save(folder / f"{scene.pitfall}.jpg", quality=82, optimize=True)
        before, after = (told(each.shapes, scene.above) for each in found)
        seen[scene.pitfall] = {
            "kind": "answers",
            "words": scene.words,
            "about": scene.about,
            "model": scene.model,
            "picture": PICTURES[scene.picture],
            "right": before,
            "wrong": after,
            "apart": apart(*(each.shapes for each in found)),
        }
        sys.stdout.write(f"{scene.pitfall}: {json.dumps(seen[scene.pitfall])}\n")
    return seen


PICTURES = {
    "astronaut": "the portrait of an astronaut, in gray",
    "near": "a detail of the portrait of an astronaut, in gray",
    "wide": "the upper part of the portrait of an astronaut, in gray",
    "face": "a detail of the portrait of an astronaut",
    "head": "a detail of the portrait of an astronaut",
    "portrait": "a detail of the portrait of an astronaut",
    "text": "three lines of text, drawn by Pillow",
}
PARTS = {
    "astronaut": (0, 0, 512, 512),
    "near": (126, 20, 326, 220),
    "wide": (0, 0, 512, 230),
    "face": (166, 40, 286, 160),
    "head": (150, 20, 310, 180),
    "portrait": (96, 0, 416, 320),
}
LINES = ("Accuracy is not what it seems", "until the pipeline is known", "down to the last pixel")


def make_pictures(scratch: Path, artifacts: ArtifactStore) -> dict[str, Path]:
    """Parts of the picture in the wheel, and a text."""
    made = {name: scratch / f"{name}.png" for name in PICTURES}
    with Image.open(artifacts.fetch(f"{SOURCE}/astronaut.png").path) as opened:
        for name, box in PARTS.items():
            part = opened.convert("RGB").crop(box)
            (part.convert("L").convert("RGB") if "gray" in PICTURES[name] else part).save(made[name])
    page = Image.new("RGB", (640, 260), "#f4efe2")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(36)
    for at, line in enumerate(LINES):
        pen.text((30 + 20 * at, 30 + 72 * at), line, fill="#26323d", font=font)
    page.save(made["text"])
    return made


def written_baseline(scratch: Path) -> Path:
    (scratch / "echo.json").write_text(json.dumps({"shape": [None] * 4, "echo": True}))
    path = scratch / "bicubic.yml"
    path.write_text(json.dumps(BASELINE))  # which is YAML, too
    return path


def edited_by(plan: Plan, scene: Scene) -> Plan:
    known = variants_of(plan, [scene.pitfall])
    found = [each.plan for each in known if each.words == scene.words]
    if not found:
        has = ", ".join(each.words for each in known)
        sys.exit(f"{scene.pitfall} has no variant `{scene.words}` for {scene.model}; it has: {has}")
    return found[0]


def answered(plan: Plan, path: Path, artifacts: ArtifactStore) -> Prediction:
    with OpenModel(plan, artifacts, reads=[path]) as opened:
        (found,) = opened.answer([path])
    if found.error:
        sys.exit(f"{plan.model.reference}: {found.error}")
    return found


def sheet(scene: Scene, path: Path, found: Sequence[Prediction]) -> Image.Image:
    """Both answers side by side."""
    panels = [_fitted(_opened(draw(path.read_bytes(), each.shapes, scene.above))) for each in found]
    made = Image.new("RGB", (sum(each.width for each in panels) + GAP, max(each.height for each in panels)), "white")
    made.paste(panels[0], (0, 0))
    made.paste(panels[1], (panels[0].width + GAP, 0))
    return made


def _opened(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content)) as opened:
        return opened.convert("RGB")


def _fitted(panel: Image.Image) -> Image.Image:
    if panel.width <= MOST_WIDE:  # small ones in whole squares
        times = MOST_WIDE // panel.width
        return panel.resize((times * panel.width, times * panel.height), Image.Resampling.NEAREST)
    return panel.resize((MOST_WIDE, round(panel.height * MOST_WIDE / panel.width)), Image.Resampling.LANCZOS)


def told(shapes: Sequence[Shape], above: float) -> str:
    """What an answer is, in words."""
    if any(isinstance(each, PictureShape) for each in shapes):
        return ""
    for each in shapes:
        if isinstance(each, MaskShape):
            shares = dict(zip((name for name, _ in each.legend), each.shares, strict=True))
            return f"{100 * shares.get('text', 0.0):.1f} % of the pixels are text"
    scores = [each.score or 0.0 for each in shapes if isinstance(each, BoxShape) and (each.score or 0.0) >= above]
    if not scores:
        return "no box"
    best = f"a score of {max(scores):.2f}"
    return f"a box with {best}" if len(scores) == 1 else f"{len(scores)} boxes, the best with {best}"


def apart(right: Sequence[Shape], wrong: Sequence[Shape]) -> str:
    """How far the one answer is from the other, in words."""
    pictures = [[each for each in shapes if isinstance(each, PictureShape)] for shapes in (right, wrong)]
    if all(pictures):
        one, other = (_opened(base64.b64decode(each[0].png)) for each in pictures)
        means = ImageStat.Stat(ImageChops.difference(one, other)).mean
        return f"the answers differ by {sum(means) / len(means):.1f} of 255 levels on average"
    maps = [[each for each in shapes if isinstance(each, MaskShape)] for shapes in (right, wrong)]
    if all(maps):
        one, other = (_pixels(each[0]) for each in maps)
        both = sum(map(min, one, other)) / max(1, sum(map(max, one, other)))
        return f"the IoU of the two maps' text is {both:.2f}"
    boxes = [[each for each in shapes if isinstance(each, BoxShape)] for shapes in (right, wrong)]
    if not all(boxes):
        return ""
    return f"the best boxes of the two have an overlap of {_overlap(boxes[0][0], boxes[1][0]):.2f}"


def _pixels(mask: MaskShape) -> list[int]:
    """1 where the map is tinted."""
    with Image.open(io.BytesIO(base64.b64decode(mask.png))) as opened:
        return [int(each > 0) for each in opened.convert("RGBA").getchannel("A").tobytes()]


def _overlap(one: BoxShape, other: BoxShape) -> float:
    wide = min(one.right, other.right) - max(one.left, other.left)
    high = min(one.bottom, other.bottom) - max(one.top, other.top)
    shared = max(0.0, wide) * max(0.0, high)
    areas = sum((each.right - each.left) * (each.bottom - each.top) for each in (one, other))
    return shared / (areas - shared) if areas > shared else 0.0
