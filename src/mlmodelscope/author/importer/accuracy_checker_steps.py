"""Pre-processing of OpenVINO's Accuracy Checker, step by step. What ours cannot do is named in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.author.draft import Draft, DraftStep, one_line, plain
from mlmodelscope.author.fields import Fields, tidy
from mlmodelscope.author.processing import normalize_steps, resize_step
from mlmodelscope.manifest.write import spell_flow

SECTION = "accuracy_check"

# Which library reads, and in which order of colours.
_READERS = {
    "opencv_imread": ("opencv", "BGR"),
    "pillow_imread": ("pillow", "RGB"),
    "scipy_imread": ("pillow", "RGB"),
    "tf_imread": ("tensorflow", "RGB"),
    "skimage_imread": ("pillow", "RGB"),
}
_METHODS = {
    "opencv": {
        "nearest": "nearest",
        "linear": "bilinear",
        "bilinear": "bilinear",
        "cubic": "bicubic",
        "bicubic": "bicubic",
        "area": "area",
        "lanczos4": "lanczos4",
    },
    "pillow": {
        "nearest": "nearest",
        "none": "nearest",
        "bilinear": "bilinear",
        "linear": "bilinear",
        "bicubic": "bicubic",
        "cubic": "bicubic",
        "box": "box",
        "lanczos": "lanczos",
        "antialias": "lanczos",
        "hamming": "hamming",
    },
    "tensorflow": {"bilinear": "bilinear", "linear": "bilinear", "bicubic": "bicubic", "area": "area"},
}
_PRECOMPUTED = {
    "imagenet": [104.00698793, 116.66876762, 122.67891434],
    "cifar10": [125.307, 122.961, 113.8575],
}


@dataclass
class StepReader:
    """Reads one dataset's `reader` and `preprocessing`; `input_size` is the model's, for auto_resize."""

    draft: Draft
    file: str
    input_size: tuple[int, int] | None = None
    steps: list[DraftStep] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    color: str = "BGR"
    index: int = 0
    """Of the step that is being read."""
    is_image: bool = True
    is_float: bool = False
    """Whether pixels are fractions at this point: OpenCV's resize is followed by a cast there, Pillow's is not."""

    def reader(self, dataset: Fields) -> None:
        value = dataset.any("reader")
        fields = dataset.fields("reader") if isinstance(value, dict) else None
        kind = (fields.text("type") if fields is not None else dataset.text("reader")) or "opencv_imread"
        if kind not in _READERS:
            self.is_image = False
            self.draft.keep(SECTION, "reader", value, "reads no image that `decode` could")
            return
        library, self.color = _READERS[kind]
        why = kind if value is not None else "opencv_imread is the default where no reader is named"
        decode: dict[str, Any] = {"library": library, "color_layout": self.color}
        if library == "opencv":
            decode["exif"] = "apply"  # cv2.imread turns images upright unless told not to
            why += "; it turns images as EXIF says"
        if kind == "skimage_imread":
            self.draft.unknown.append("accuracy_check.reader: skimage_imread; Pillow is written instead")
        if fields is not None:
            flag = fields.word("reading_flag")
            if flag == "gray":
                decode["color_layout"] = self.color = "GRAY"
            elif flag not in (None, "color"):
                self.draft.keep(SECTION, "reader.reading_flag", flag)
            if fields.flag("to_rgb") is False:
                self.draft.keep(SECTION, "reader.to_rgb", False, "`decode` always gives three channels or one")
            for key, rest in fields.rest().items():
                self.draft.keep(SECTION, f"reader.{key}", rest)
        self.add(DraftStep("decode", decode, why))

    def add(self, step: DraftStep) -> None:
        self.steps.append(DraftStep(step.name, step.value, step.because, step.guess, (*self.waiting, *step.remarks)))
        self.waiting = []

    def name_it(self, fields: Fields, why: str) -> None:
        """A step that cannot be expressed: said where it stood, kept, and listed."""
        kind = fields.text("type") or "?"
        shown = one_line(spell_flow(plain(dict(fields.data))))
        self.waiting.append(f"not expressed: {shown} ({why})")
        self.draft.keep(SECTION, f"preprocessing.{self.index}.{kind}", dict(fields.data), why)

    def preprocess(self, steps: list[Fields]) -> None:
        for self.index, fields in enumerate(steps):
            kind = fields.text("type") or ""
            method = _STEPS.get(kind)
            if method is None:
                self.name_it(fields, "no step of ours does this")
                continue
            before = len(self.steps)
            method(self, fields)
            rest = {key: value for key, value in fields.rest().items() if key != "type"}
            if rest and len(self.steps) > before:
                for key, value in rest.items():
                    self.draft.keep(SECTION, f"preprocessing.{kind}.{key}", value)


def _sides(fields: Fields) -> tuple[int | None, int | None]:
    """Height and width of `size`, or of `dst_height` and `dst_width`."""
    size = fields.side("size")
    height, width = fields.side("dst_height"), fields.side("dst_width")
    return (height or size), (width or size)


def _library(fields: Fields) -> str:
    named = fields.word("resize_realization")
    pillow, tensorflow = fields.flag("use_pillow"), fields.flag("use_tensorflow")
    if named is not None:
        return {"tf": "tensorflow", "tensorflow": "tensorflow", "pillow": "pillow"}.get(named, "opencv")
    return "pillow" if pillow else "tensorflow" if tensorflow else "opencv"


def _resize(reader: StepReader, fields: Fields) -> None:
    height, width = _sides(fields)
    library = _library(fields)
    wanted = fields.word("interpolation") or ("linear" if library == "opencv" else "bilinear")
    method = _METHODS[library].get(wanted)
    scale = fields.word("aspect_ratio_scale")
    factor = fields.whole("factor")
    fields.flag("include_boundary")
    if method is None:
        reader.name_it(fields, f"{library} has no interpolation `{wanted}` here")
        return
    if height is None or width is None:
        reader.name_it(fields, "the size does not stand in it")
        return
    value = _aspect(scale, height, width)
    if value is None:
        reader.name_it(fields, f"aspect_ratio_scale {scale} for {height} x {width} has no step of ours")
        return
    if factor not in (None, 1):
        reader.draft.keep(SECTION, "preprocessing.resize.factor", factor, "sides as multiples of it are not expressed")
    reader.is_float = library != "pillow"
    why = f"aspect_ratio_scale: {scale}" if scale else ""
    reader.add(resize_step(value, method, library, why))


def _aspect(scale: str | None, height: int, width: int) -> dict[str, Any] | None:
    if scale is None:
        return {"dimensions": [height, width]}
    square = height == width
    if scale in ("greater", "min_ratio") and square:
        return {"short_side": height, "rounding": "floor"}
    if scale == "mask_rcnn_benchmark_aspect_ratio":
        return {"short_side": min(height, width), "rounding": "floor"}
    if scale == "fit_to_window" and square:
        return {"max_dimension": height, "rounding": "floor"}
    return None


def _auto_resize(reader: StepReader, fields: Fields) -> None:
    if reader.input_size is None:
        reader.draft.ask(
            "resize", "Size of the model's input, for example 224x224 (auto_resize takes it from the file)"
        )
        reader.name_it(fields, "it takes the size from the model file, which was not given; see --resize")
        return
    reader.is_float = True
    reader.add(resize_step({"dimensions": list(reader.input_size)}, "bilinear", "opencv", "auto_resize"))


def _crop(reader: StepReader, fields: Fields) -> None:
    height, width = _sides(fields)
    share, square = fields.number("central_fraction"), fields.flag("max_square")
    offset = "round" if fields.flag("use_pillow") else "floor"
    value: dict[str, Any] = {"method": "center", "offset": offset}
    if square:
        value |= {"percentage": 100, "square": True}
    elif share is not None and 0 < share <= 1:
        value |= {"percentage": tidy(round(share * 100, 10))}
    elif height is not None and width is not None:
        value |= {"dimensions": [height, width]}
    else:
        reader.name_it(fields, "the size does not stand in it")
        return
    if any("max_dimension" in step.value for step in reader.steps if step.name == "resize"):
        reader.draft.unknown.append(
            f"{SECTION}.preprocessing.crop: enlarges an image that is too small; `crop` refuses"
        )
    reader.add(DraftStep("crop", value, "pillow's rounding" if offset == "round" else ""))


def _corner_crop(reader: StepReader, fields: Fields) -> None:
    height, width = _sides(fields)
    corner = (fields.word("corner_type") or "top_left").replace("-", "_")
    if corner != "top_left" or height is None or width is None:
        reader.name_it(fields, "only the top left corner can be cut out")
        return
    reader.add(DraftStep("crop", {"method": "top_left", "dimensions": [height, width]}, "corner_crop"))


def _crop_with_padding(reader: StepReader, fields: Fields) -> None:
    size, padding = fields.side("size"), fields.side("crop_padding")
    if size is None or padding is None:
        reader.name_it(fields, "size and crop_padding are needed")
        return
    share = tidy(100 * size / (size + padding))
    why = f"crop_image_with_padding: {size} / ({size} + {padding}) of the shorter side"
    reader.add(DraftStep("crop", {"method": "center", "percentage": share, "square": True, "offset": "ceil"}, why))
    reader.add(resize_step({"dimensions": [size, size]}, "bilinear", "opencv", "crop_image_with_padding"))


def _padding(reader: StepReader, fields: Fields) -> None:
    height, width = _sides(fields)
    kind = fields.word("pad_type") or "center"
    stride = fields.whole("stride")
    value = fields.any("pad_value")
    fields.flag("use_numpy")
    mode = fields.word("numpy_pad_mode") or "constant"
    resizes = fields.flag("enable_resize")
    places = {"center": "center", "right_bottom": "top_left"}
    is_word = isinstance(value, str) and value.strip().isalpha()
    if (
        height is None
        or width is None
        or kind not in places
        or stride not in (None, 1)
        or mode != "constant"
        or is_word
    ):
        reader.name_it(
            fields, "`pad` brings an image to a fixed size with one colour, in the centre or at the top left"
        )
        return
    colour = fields.numbers("pad_value")
    step: dict[str, Any] = {"dimensions": [height, width], "method": places[kind]}
    if colour is not None and any(colour):
        if any(value != int(value) for value in colour):
            if reader.is_float:
                reader.add(DraftStep("cast", "float32", "so that the border may have fractions"))
            else:
                colour = [round(value) for value in colour]  # as OpenCV does for bytes
        step["value"] = colour if len(colour) > 1 else colour[0]
    if resizes:
        reader.draft.keep(SECTION, "preprocessing.padding.enable_resize", True, "`pad` refuses larger images")
    reader.add(DraftStep("pad", step, f"pad_type: {kind}"))


def _normalization(reader: StepReader, fields: Fields) -> None:
    values = {key: _precomputed(fields, key) for key in ("mean", "std")}
    fields.flag("images_only")
    if values["mean"] is None and values["std"] is None:
        reader.name_it(fields, "neither mean nor std is given")
        return
    several = any(len(each or ()) > 1 for each in values.values())
    steps = normalize_steps(None, values["mean"], values["std"], f"in the order {reader.color}" if several else "")
    reader.is_float = True
    for step in steps:
        reader.add(step)


def _precomputed(fields: Fields, key: str) -> list[float] | None:
    value = fields.any(key)
    if isinstance(value, str) and value.strip().lower() in _PRECOMPUTED:
        return _PRECOMPUTED[value.strip().lower()]
    return fields.divisors(key) if key == "std" else fields.numbers(key)


def _swap(reader: StepReader, fields: Fields) -> None:
    kind = fields.text("type") or ""
    if reader.color == "GRAY":
        reader.name_it(fields, "a grey image has no order of colours")
        return
    said = "RGB" if kind.endswith("rgb") else "BGR"
    reader.color = "RGB" if reader.color == "BGR" else "BGR"
    why = kind if reader.color == said else f"{kind}, although they were in that order already: it swaps whatever comes"
    reader.add(DraftStep("color", reader.color, why))


def _gray(reader: StepReader, fields: Fields) -> None:
    kind = fields.text("type") or ""
    if len(reader.steps) != 1 or reader.steps[0].name != "decode" or not kind.startswith(reader.color.lower()):
        reader.name_it(fields, "`decode` can give grey, but no step behind it")
        return
    first = reader.steps[0]
    reader.color = "GRAY"
    fields.flag("cast_to_float")
    reader.draft.unknown.append(
        f"{SECTION}.preprocessing.{kind}: grey has fractions there, here it is rounded to bytes"
    )
    reader.steps[0] = DraftStep("decode", {**first.value, "color_layout": "GRAY"}, f"{first.because}; {kind}")


def _to_unit(reader: StepReader, fields: Fields) -> None:
    reader.add(DraftStep("rescale", 255, "tf_convert_image_dtype: 0 to 1"))


_STEPS: dict[str, Callable[[StepReader, Fields], None]] = {
    "resize": _resize,
    "auto_resize": _auto_resize,
    "crop": _crop,
    "corner_crop": _corner_crop,
    "crop_image_with_padding": _crop_with_padding,
    "padding": _padding,
    "normalization": _normalization,
    "bgr_to_rgb": _swap,
    "rgb_to_bgr": _swap,
    "bgr_to_gray": _gray,
    "rgb_to_gray": _gray,
    "tf_convert_image_dtype": _to_unit,
}
