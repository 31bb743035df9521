"""TensorFlow's detection zoos: `tf1_detection_zoo.md` and `tf2_detection_zoo.md`, tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.markdown import Cell, Table, bar_tables
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text, tell_unit
from mlmodelscope.catalog.words import metric_word

_NAME = "*detection_zoo.md"
_TASKS = {"masks": "instance_segmentation", "keypoints": "keypoint_detection"}
_SECOND = {"masks": "mask ap", "keypoints": "kp. ap"}


def _recognize(files: Files) -> bool:
    return bool(files.matching(_NAME))


@source_form("tensorflow", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """TensorFlow's detection zoos."""
    for file, text in reading.pages(_NAME):
        # A link that the page breaks over two lines is one.
        for table in bar_tables(text):
            for line, cells in table.rows:
                entry = _entry(reading, table, cells, f"{file}:{line}")
                if entry is None:
                    reading.leave_out("a row without a model", f"{file}:{line}")
                    continue
                yield entry


def _entry(reading: Reading, table: Table, cells: list[Cell], place: str) -> Entry | None:
    link = next((link for link in cells[0].links if re.match(r"https?://[^\s]{4,1000}$", link)), None)
    if link is None:
        return None
    archive = link.rpartition("/")[2]
    folder = re.sub(r"\.(tar\.gz|tgz|tar|zip)$", "", archive)
    name = name_from(folder)
    if name is None:
        return None
    row = dict(zip(table.titles, cells, strict=False))
    outputs = row.get("Outputs", Cell("")).text.lower()
    is_second = "tf2" in place
    inside = f"{folder}/saved_model/" if is_second else f"{folder}/frozen_inference_graph.pb"
    return Entry(
        name,
        next((task for word, task in _TASKS.items() if word in outputs), "object_detection"),
        architecture=cells[0].text[:100],
        framework="tensorflow",
        description=table.heading[:200],
        code_license="Apache-2.0",
        weights=(WeightsFact(f"{link}#{inside}"),) if archive != folder else (WeightsFact(link),),
        claims=tuple(_claims(reading, row, outputs, place)),
        references=("https://github.com/tensorflow/models",),
        place=place,
    )


def _claims(reading: Reading, row: dict[str, Cell], outputs: str, place: str) -> Iterator[ClaimFact]:
    """`40.0/61.4` is of boxes and of keypoints; `fp32/uint8` of one model in two forms."""
    for title, cell in row.items():
        if "map" not in title.lower() or not cell.text:
            continue
        plain = re.sub(r"\[\^\d\]|\(.*?\)", "", title).strip()
        for index, part in enumerate(cell.text.split("/")[:2]):
            text = number_text(part.strip())
            if text is None:
                reading.leave_out("a metric that is no number", place)
                continue
            second = next((metric for word, metric in _SECOND.items() if word in outputs), None)
            written = second if second is not None and (index == 1 or outputs.strip() == "keypoints") else plain
            word = metric_word(written)
            told = tell_unit(text, [text], word)
            precisions = re.search(r"\((\w+)/(\w+)\)", title)
            dataset, is_known = _dataset(title, place)
            yield ClaimFact(
                word.name,
                text,
                told.unit,
                told.because,
                place,
                dataset,
                conditions=precisions[index + 1] if precisions is not None else "",
                metric_as_written=title[:60],
                is_measurable=word.is_known,
                is_known_dataset=is_known,
            )


def _dataset(title: str, place: str) -> tuple[str, bool]:
    lower = title.lower()
    if "coco" in lower:
        # The first zoo has numbers of a part of the 2014 pictures.
        return ("coco-val2017", True) if "tf2" in place or "2017" in lower else ("COCO 2014 minival", False)
    if "open images" in lower:
        return "Open Images", False
    return "what its section names", False


__all__ = ["read"]
