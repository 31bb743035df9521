"""Keras applications: the table of `applications.md`, with what their `preprocess_input` does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.markdown import Cell, bar_tables
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text

_NAME = "*applications.md"
_SCALES = {"K": 1e3, "M": 1e6, "B": 1e9}
# What `preprocess_input` of each family does, and the side of its default input, the most special name first.
_FAMILIES = (
    (r"NASNetLarge", "tf", 331),
    (r"Xception|Inception", "tf", 299),
    (r"ResNet\d+V2|MobileNet|NASNet", "tf", 224),
    (r"VGG|ResNet", "caffe", 224),
    (r"DenseNet", "torch", 224),
    (r"ConvNeXt", "none", 224),
    (r"EfficientNet(V2)?B0", "none", 224),
    (r"EfficientNet(V2)?B1", "none", 240),
    (r"EfficientNet(V2)?B2", "none", 260),
    (r"EfficientNet(V2)?B3", "none", 300),
    (r"EfficientNetB4", "none", 380),
    (r"EfficientNetB5", "none", 456),
    (r"EfficientNetB6", "none", 528),
    (r"EfficientNetB7", "none", 600),
    (r"EfficientNetV2S", "none", 384),
    (r"EfficientNetV2[ML]", "none", 480),
)

_BASE = "https://storage.googleapis.com/tensorflow/keras-applications/"
_KERNELS = "weights_tf_dim_ordering_tf_kernels"
# Where Keras's own code finds the weights; `{}` is the model's name in small letters.
_WEIGHTS = (
    (r"Xception|VGG\d+$", f"{_BASE}{{0}}/{{0}}_{_KERNELS}.h5"),
    (r"ResNet", f"{_BASE}resnet/{{0}}_{_KERNELS}.h5"),
    (r"InceptionV3", f"{_BASE}inception_v3/inception_v3_{_KERNELS}.h5"),
    (r"InceptionResNetV2", f"{_BASE}inception_resnet_v2/inception_resnet_v2_{_KERNELS}.h5"),
    (r"MobileNetV2", f"{_BASE}mobilenet_v2/mobilenet_v2_{_KERNELS}_1.0_224.h5"),
    (r"MobileNet$", f"{_BASE}mobilenet/mobilenet_1_0_224_tf.h5"),
    (r"DenseNet", f"{_BASE}densenet/{{0}}_{_KERNELS}.h5"),
    (r"NASNetMobile", f"{_BASE}nasnet/NASNet-mobile.h5"),
    (r"NASNetLarge", f"{_BASE}nasnet/NASNet-large.h5"),
    (r"EfficientNetV2", f"{_BASE}efficientnet_v2/efficientnetv2-{{1}}.h5"),
    (r"EfficientNetB", "https://storage.googleapis.com/keras-applications/{0}.h5"),
    (r"ConvNeXt", f"{_BASE}convnext/convnext_{{2}}.h5"),
)


def _recognize(files: Files) -> bool:
    return bool(files.matching(_NAME))


@source_form("keras", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """The table of Keras applications."""
    for file, text in reading.pages(_NAME):
        for table in bar_tables(text):
            titles = [title.lower() for title in table.titles]
            if "model" not in titles or not any("top-1" in title for title in titles):
                continue
            for line, cells in table.rows:
                row = dict(zip(titles, cells, strict=False))
                name = name_from(row["model"].text)
                if name is None:
                    reading.leave_out("a row without a model", f"{file}:{line}")
                    continue
                yield _entry(reading, name, row, f"{file}:{line}")


def _entry(reading: Reading, name: str, row: dict[str, Cell], place: str) -> Entry:
    mode, side = next(((mode, side) for words, mode, side in _FAMILIES if re.match(words, name)), ("", 0))
    return Entry(
        name,
        "classification",
        architecture=name,
        builder="keras",
        framework="keras",
        parameters=_parameters(row),
        input_size=(3, side, side) if side else (),
        code_license="Apache-2.0",
        weights=_weights(name),
        config={"keras": {"mode": mode, "size": side}} if mode else {},
        claims=tuple(_claims(reading, row, place)),
        references=("https://keras.io/api/applications/",),
        place=place,
    )


def _weights(name: str) -> tuple[WeightsFact, ...]:
    small = name.lower()
    parts = small, small.removeprefix("efficientnetv2"), small.removeprefix("convnext")
    found = next((template.format(*parts) for words, template in _WEIGHTS if re.match(words, name)), None)
    return (WeightsFact(found),) if found is not None else ()


def _parameters(row: dict[str, Cell]) -> int | None:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)([KMB])", row.get("parameters", Cell("")).text)
    return round(float(found[1]) * _SCALES[found[2]]) if found else None


def _claims(reading: Reading, row: dict[str, Cell], place: str) -> Iterator[ClaimFact]:
    for metric, words in (("top1", "top-1"), ("top5", "top-5")):
        written = next((cell.text for title, cell in row.items() if words in title), "")
        text = number_text(written)
        if text is None:
            reading.leave_out(f"a {metric} that is no number", place)
            continue
        has_sign = written.endswith("%")
        yield ClaimFact(
            metric,
            text,
            "percent" if has_sign or float(text) > 1 else "share",
            "it has a percent sign" if has_sign else "the table's column has no percent sign",
            place,
            "imagenet-val",
            dataset_as_written="the ImageNet validation dataset",
        )
