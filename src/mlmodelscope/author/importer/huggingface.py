"""Hugging Face: `preprocessor_config.json`, what an image processor of transformers does.

The rules are those of the processors' source: the slow ones resize with Pillow and cut the centre with floor, the
fast ones (`…ImageProcessorFast`) do both as torchvision does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.author.draft import Draft, DraftStep, one_line
from mlmodelscope.author.fields import Fields, tidy
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.processing import normalize_steps, resize_step

_SECTION = "preprocessor_config"
_RESAMPLE = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
_MEANS = {
    "standard": ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    "imagenet": ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    "clip": ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]),
}


@dataclass(frozen=True)
class _Family:
    """What a processor does where its file says nothing."""

    square: bool = True
    """Whether one number for a size means both sides; otherwise it is the shorter."""
    method: str = "bilinear"
    means: str = "imagenet"
    crops: bool = False
    normalizes: bool = True
    flips: bool = False
    """Whether RGB becomes BGR in the end."""


_FAMILIES = {
    "vit": _Family(means="standard"),
    "deit": _Family(method="bicubic", means="standard", crops=True),
    "beit": _Family(method="bicubic", means="standard"),
    "convnext": _Family(square=False, means="standard"),
    "bit": _Family(square=False, method="bicubic", means="clip", crops=True),
    "clip": _Family(square=False, method="bicubic", means="clip", crops=True),
    "chineseclip": _Family(square=False, method="bicubic", means="clip", crops=True),
    "siglip": _Family(method="bicubic", means="standard"),
    "blip": _Family(method="bicubic", means="clip"),
    "mobilenetv1": _Family(square=False, means="standard", crops=True),
    "mobilenetv2": _Family(square=False, means="standard", crops=True),
    "mobilevit": _Family(square=False, crops=True, normalizes=False, flips=True),
    "efficientnet": _Family(method="nearest", means="standard"),
    "levit": _Family(square=False, method="bicubic", crops=True),
    "poolformer": _Family(square=False, method="bicubic", crops=True),
    "perceiver": _Family(method="bicubic", crops=True),
    "dpt": _Family(method="bicubic", means="standard"),
    "segformer": _Family(),
    "detr": _Family(square=False),
    "conditionaldetr": _Family(square=False),
    "deformabledetr": _Family(square=False),
    "rtdetr": _Family(),
    "yolos": _Family(square=False),
    "maskformer": _Family(square=False),
    "mask2former": _Family(square=False),
    "oneformer": _Family(square=False),
    "vilt": _Family(square=False, method="bicubic"),
    "videomae": _Family(square=False, crops=True),
    "glpn": _Family(square=False),
}
_DETECTORS = ("detr", "conditionaldetr", "deformabledetr", "rtdetr", "yolos")
_KEYS = ("image_processor_type", "feature_extractor_type", "image_mean", "do_resize", "do_normalize", "do_rescale")


_ANNOTATIONS = (
    "format",
    "do_convert_annotations",
    "do_reduce_labels",
    "reduce_labels",
    "processor_class",
    "_valid_processor_keys",
)


def _recognise(data: Mapping[str, Any]) -> bool:
    data = _unwrapped(data)
    return any(key in data for key in _KEYS) and "pretrained_cfg" not in data


def _unwrapped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some write the processor's fields inside `config`."""
    inner = data.get("config")
    return inner if isinstance(inner, Mapping) and len(data) == 1 else data


@importer("huggingface", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Hugging Face's preprocessor_config.json"""
    fields = Fields(_unwrapped(data), context.file)
    draft = Draft()
    kind = fields.text("image_processor_type") or fields.text("feature_extractor_type") or ""
    fields.ignore("image_processor_type", "feature_extractor_type", *_ANNOTATIONS)
    if "sampling_rate" in fields:
        return _sound(draft, fields, kind)
    fast = kind.endswith("Fast") or fields.flag("use_fast") is True
    family_name = _family_name(kind)
    family = _FAMILIES.get(family_name)
    if family is None:
        family = _Family()
        draft.notes.append(
            one_line(f"`{kind or 'an image processor without a name'}` is not known here; its fields are read as ViT's")
        )
    reader = _Reader(fields, draft, family_name, family, fast)
    draft.steps = [reader.decode(), *reader.resize_and_crop(), *reader.arithmetic()]
    draft.steps_are_whole = True
    reader.padding()
    if family_name in _DETECTORS:
        draft.learn("task", "object_detection", f"{kind} is a detector's")
    draft.learn("inputs.layer_name", "pixel_values", "the name that transformers gives it", guess=True)
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _sound(draft: Draft, fields: Fields, kind: str) -> Draft:
    draft.notes.append(one_line(f"{kind or 'the configuration'} is about sound, for which there are no steps yet"))
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _family_name(kind: str) -> str:
    for end in ("Fast", "ImageProcessor", "FeatureExtractor"):
        kind = kind.removesuffix(end)
    return kind.lower()


@dataclass
class _Reader:
    fields: Fields
    draft: Draft
    name: str
    family: _Family
    fast: bool

    @property
    def library(self) -> str:
        return "torchvision" if self.fast else "pillow"

    @property
    def offset(self) -> str:
        return "round" if self.fast else "floor"

    def decode(self) -> DraftStep:
        if self.fields.flag("do_convert_rgb"):
            return DraftStep("decode", {"library": "pillow", "color_layout": "RGB"}, "do_convert_rgb")
        return DraftStep("decode", {"library": "pillow", "color_layout": "RGB"}, "transformers takes Pillow's RGB")

    def resize_and_crop(self) -> list[DraftStep]:
        steps: list[DraftStep] = []
        size, crop_size = self.fields.any("size"), self.fields.any("crop_size")
        crop_pct = self.fields.number("crop_pct")
        longest = self.fields.side("max_size")
        if crop_pct is not None and not 0 < crop_pct <= 1:
            self.fields.refuse("crop_pct", "a share above 0 and up to 1")
        if self.name == "perceiver" and isinstance(size, Mapping) and isinstance(crop_size, Mapping):
            return self._perceiver(self._sides("size", size, True), self._sides("crop_size", crop_size, True))
        if self.fields.flag("do_resize") is not False and size is not None:
            steps += self._resize(size, longest, crop_pct)
        crops = self.fields.flag("do_center_crop")
        if crops is None:
            crops = self.family.crops
        crop = self._sides("crop_size", crop_size, square=True) if crop_size is not None else None
        if crops and crop is None and size is not None:
            crop = self._sides("size", size, square=True)
        if crops and crop is not None and not self._is_convnext:
            if "shortest_edge" in crop:
                crop = {"height": crop["shortest_edge"], "width": crop["shortest_edge"]}
            steps.append(self._crop(crop["height"], crop["width"], "crop_size"))
            self._name_larger_crop(steps)
        return steps

    def _name_larger_crop(self, steps: list[DraftStep]) -> None:
        short = next((step.value["short_side"] for step in steps if "short_side" in step.value), None)
        largest = max(steps[-1].value["dimensions"])
        if short is not None and largest > short:
            why = f"it is more than the {short} of the shorter side; transformers fills up with black, `crop` refuses"
            self.draft.keep(_SECTION, "crop_size", largest, why)

    def _perceiver(self, size: dict[str, int], crop: dict[str, int]) -> list[DraftStep]:
        """Perceiver cuts first: size / crop_size of the shorter side, and resizes that."""
        if "height" not in size or "height" not in crop or self.fields.flag("do_resize") is False:
            self.draft.keep(_SECTION, "size", size, "Perceiver's rule needs height and width")
            return []
        steps = []
        if self.fields.flag("do_center_crop") is not False:
            share = tidy(min(100.0, 100 * size["height"] / crop["height"]))
            value = {"method": "center", "percentage": share, "square": True, "offset": "floor"}
            steps.append(DraftStep("crop", value, "size / crop_size of the shorter side, Perceiver's rule"))
        return [*steps, self._step({"dimensions": [size["height"], size["width"]]}, self._method(), "size")]

    @property
    def _is_convnext(self) -> bool:
        return self.name == "convnext"

    def _resize(self, size: Any, longest: int | None, crop_pct: float | None) -> list[DraftStep]:
        sides = self._sides("size", size, self.family.square)
        method = self._method()
        shortest = sides.get("shortest_edge")
        longest = sides.get("longest_edge", longest)
        if self._is_convnext and shortest is not None:
            return self._resize_convnext(shortest, crop_pct, method)
        if self.name == "levit" and shortest is not None:
            why = f"LeViT's rule: 256 / 224 of {shortest}"
            return [self._step({"short_side": int(256 / 224 * shortest)}, method, why)]
        if crop_pct is not None:
            return [self._step(self._enlarged(sides, crop_pct), method, f"size / crop_pct {crop_pct:g}")]
        if self.name == "yolos":
            self.draft.unknown.append(f"{_SECTION}.size: YOLOS makes both sides multiples of 16, `resize` does not")
        if shortest is not None:
            if longest is not None:
                self.draft.keep(
                    _SECTION,
                    "size.longest_edge",
                    longest,
                    f"the longer side is at most {longest}; `resize` makes the shorter {shortest} all the same",
                )
            return [self._step({"short_side": shortest}, method, "size.shortest_edge")]
        if "height" in sides:
            keeps = self.fields.flag("keep_aspect_ratio")
            multiple = self.fields.whole("ensure_multiple_of")
            if keeps:
                why = "the aspect ratio is kept, towards a multiple of ensure_multiple_of; here it is not"
                self.draft.keep(_SECTION, "keep_aspect_ratio", {"ensure_multiple_of": multiple or 1}, why)
            return [self._step({"dimensions": [sides["height"], sides["width"]]}, method, "size")]
        if longest is not None:
            return [self._step({"max_dimension": longest}, method, "size.longest_edge")]
        self.draft.keep(_SECTION, "size", size, "a size of a form that is not known here")
        return []

    def _resize_convnext(self, shortest: int, crop_pct: float | None, method: str) -> list[DraftStep]:
        """Below 384 pixels a centre is cut out of something larger; from there on the whole image is squeezed."""
        if shortest >= 384:
            return [self._step({"dimensions": [shortest, shortest]}, method, "ConvNeXt squeezes from 384 on")]
        share = crop_pct if crop_pct is not None else 224 / 256
        larger = int(shortest / share)
        if larger > 65535:
            self.fields.refuse("crop_pct", "a share that gives a usual size")
        said = f"crop_pct {share:g}" if crop_pct is not None else "crop_pct, which is 224 / 256 where it is not given"
        return [
            self._step({"short_side": larger}, method, f"{shortest} / {said}"),
            self._crop(shortest, shortest, "size.shortest_edge"),
        ]

    def _enlarged(self, sides: dict[str, int], crop_pct: float) -> dict[str, Any]:
        """PoolFormer's and others' rule: resize to size / crop_pct, then cut."""
        larger = {key: int(side / crop_pct) for key, side in sides.items()}
        if any(side > 65535 for side in larger.values()):
            self.fields.refuse("crop_pct", "a share that gives a usual size")
        if "shortest_edge" in larger:
            return {"short_side": larger["shortest_edge"]}
        if "height" in larger and larger["height"] == larger["width"]:
            return {"short_side": larger["height"]}
        if "height" in larger:
            return {"dimensions": [larger["height"], larger["width"]]}
        return {"max_dimension": larger["longest_edge"]}

    def _step(self, value: dict[str, Any], method: str, because: str) -> DraftStep:
        library = self.library
        if library == "torchvision" and method not in ("nearest", "bilinear", "bicubic"):
            library = "pillow"
        if "dimensions" not in value:
            value = {**value, "rounding": "floor"}
        return resize_step(value, method, library, because)

    def _crop(self, height: int, width: int, because: str) -> DraftStep:
        return DraftStep("crop", {"method": "center", "dimensions": [height, width], "offset": self.offset}, because)

    def _method(self) -> str:
        code = self.fields.any("resample")
        if code is None:
            code = self.fields.any("interpolation")
        if isinstance(code, str) and code.lower() in _RESAMPLE.values():
            return code.lower()
        if code is None:
            self.draft.notes.append(f"resample is not given; {self.family.method} is this processor's default")
            return self.family.method
        if isinstance(code, bool) or not isinstance(code, int) or code not in _RESAMPLE:
            self.fields.refuse("resample", "one of Pillow's numbers 0 to 5")
        return _RESAMPLE[code]

    def _sides(self, key: str, size: Any, square: bool) -> dict[str, int]:
        """A size in any of its forms: 224, [224, 224], {height, width}, {shortest_edge, longest_edge}."""
        if isinstance(size, Mapping):
            inner = Fields(size, self.fields.file, key)
            names = ("height", "width", "shortest_edge", "longest_edge")
            sides = {name: side for name in names if (side := inner.side(name)) is not None}
            for name, other in (("max_height", "longest_edge"), ("max_width", "longest_edge")):
                if (side := inner.side(name)) is not None:
                    sides.setdefault(other, side)
            for name, value in inner.rest().items():
                self.draft.keep(_SECTION, f"{key}.{name}", value)
            if not sides or ("height" in sides) != ("width" in sides):
                self.fields.refuse(key, "a height and width, or a shortest_edge")
            return sides
        if isinstance(size, (list, tuple)) and len(size) == 2:
            pair = Fields(dict(zip(("height", "width"), size, strict=True)), self.fields.file, key)
            return {"height": pair.side("height") or 1, "width": pair.side("width") or 1}
        side = self.fields.side(key)
        if side is None:
            self.fields.refuse(key, "a number of pixels, or height and width")
        assert side is not None
        return {"height": side, "width": side} if square else {"shortest_edge": side}

    def arithmetic(self) -> list[DraftStep]:
        factor = self.fields.number("rescale_factor")
        offset = self.fields.flag("rescale_offset")
        rescales = self.fields.flag("do_rescale")
        steps: list[DraftStep] = []
        if rescales is not False:
            if factor == 0:
                self.fields.refuse("rescale_factor", "a number other than 0")
            divisor = 255 if factor is None else _inverse(factor)
            why = "rescale_factor" if factor is not None else "what transformers does where the file does not forbid it"
            steps.append(DraftStep("rescale", divisor, f"{why}: 1 / {divisor:g}"))
            if offset:
                steps.append(DraftStep("mean", 1, "rescale_offset: less 1"))
        mean, std = self.fields.numbers("image_mean"), self.fields.divisors("image_std")
        if self._flips():
            steps.append(DraftStep("color", "BGR", "do_flip_channel_order"))
        normalizes = self.fields.flag("do_normalize")
        if normalizes is False or (normalizes is None and mean is None and not self.family.normalizes):
            return steps
        if mean is None and std is None and ("do_normalize" in self.fields or "image_processor_type" in self.fields):
            mean, std = _MEANS[self.family.means]
            steps.append(
                DraftStep(
                    "normalize",
                    {"mean": mean, "std": std},
                    "no mean is given; it is this processor's default",
                    guess=True,
                )
            )
            return steps
        steps += normalize_steps(None, mean, std, "image_mean, image_std")
        if self.name == "efficientnet" and self.fields.flag("include_top") and std is not None:
            steps += normalize_steps(None, None, std, "include_top: divided by image_std once more")
        return steps

    def _flips(self) -> bool:
        said = self.fields.flag("do_flip_channel_order")
        return self.family.flips if said is None else said

    def padding(self) -> None:
        pads = self.fields.flag("do_pad")
        size = self.fields.any("pad_size")
        if not pads:
            return
        if isinstance(size, Mapping):
            sides = self._sides("pad_size", size, square=True)
            if "height" in sides and self.draft.steps is not None:
                value = {"dimensions": [sides["height"], sides["width"]], "method": "top_left"}
                self.draft.steps.append(DraftStep("pad", value, "do_pad to pad_size, behind the normalisation"))
                return
        self.draft.notes.append("do_pad fills up a batch of images of several sizes; alone, an image gets no border")


def _inverse(factor: float) -> float:
    """1 / 0.00392156862745098 is 255, not 255.00000000000003."""
    inverse = 1 / factor
    nearest = round(inverse * 2) / 2
    return tidy(float(nearest)) if nearest and abs(inverse - nearest) < 1e-4 * abs(inverse) else inverse
