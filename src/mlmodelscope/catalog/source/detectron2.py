"""detectron2: the HTML tables of `MODEL_ZOO.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.markdown import Cell, Table, html_tables
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text, tell_unit
from mlmodelscope.catalog.words import metric_word

_NAME = "*MODEL_ZOO.md"
_METRICS = ("box AP", "mask AP", "kp. AP", "PQ", "prop. AR", "box AP50")
# Folder of the configuration: the dataset that was tested on.
_DATASETS = {
    "COCO": ("coco-val2017", True),
    "LVIS": ("LVIS v0.5", False),
    "Cityscapes": ("cityscapes-val", True),
    "PascalVOC": ("voc-2007-test", True),
}


def _recognize(files: Files) -> bool:
    return any(b"detectron2" in files.read(name)[:20_000] for name in files.matching(_NAME))


@source_form("detectron2", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """detectron2's model zoo."""
    for file, text in reading.pages(_NAME):
        for table in html_tables(text):
            yield from _of_table(reading, table, file)


def _of_table(reading: Reading, table: Table, file: str) -> Iterator[Entry]:
    """One entry for each row; `above + test-time aug.` is another number of the model above it."""
    waiting: Entry | None = None
    for line, cells in table.rows:
        entry = _entry(reading, table, cells, f"{file}:{line}")
        if entry is None:
            reading.leave_out("a row without a model", f"{file}:{line}")
        elif not entry.weights and not entry.architecture and waiting is not None:
            said = cells[0].text[:80]
            more = tuple(replace(claim, conditions=said, fits=False) for claim in entry.claims)
            waiting = replace(waiting, claims=waiting.claims + more)
        else:
            if waiting is not None:
                yield waiting
            waiting = entry
    if waiting is not None:
        yield waiting


def _entry(reading: Reading, table: Table, cells: list[Cell], place: str) -> Entry | None:
    row = dict(zip(table.titles, cells, strict=False))
    config = next((link for link in row.get("Name", Cell("")).links if "configs/" in link), "")
    weights = [link for cell in cells for link in cell.links if re.match(r"https://[^\s]{4,1000}\.pkl$", link)]
    written = config.rpartition("/")[2].rpartition(".")[0] or row.get("Name", Cell("")).text
    name = name_from(written)
    if name is None:
        return None
    group = config.partition("configs/")[2].partition("-")[0]
    claims = tuple(_claims(reading, row, group, place))
    metrics = {claim.metric for claim in claims}
    return Entry(
        name,
        _task(metrics),
        architecture=config.partition("configs/")[2],
        builder="detectron2",
        framework="pytorch",
        description=f"{table.heading}: {row['Name'].text}"[:200] if "Name" in row else "",
        code_license="Apache-2.0",
        weights_license="CC-BY-SA-3.0",
        weights=tuple(WeightsFact(link) for link in weights[:1]),
        claims=claims,
        references=("https://github.com/facebookresearch/detectron2",),
        place=place,
    )


def _task(metrics: set[str]) -> str:
    if "pq" in metrics:
        return "general"
    if "oks-ap" in metrics:
        return "keypoint_detection"
    return "instance_segmentation" if "mask-ap" in metrics else "object_detection"


def _claims(reading: Reading, row: dict[str, Cell], group: str, place: str) -> Iterator[ClaimFact]:
    for title, cell in row.items():
        metric = next((each for each in _METRICS if title == each), None)
        if metric is None or not cell.text:
            continue
        text = number_text(cell.text)
        if text is None:
            reading.leave_out("a metric that is no number", place)
            continue
        word = metric_word(metric)
        told = tell_unit(text, [text], word)
        dataset, is_known = _DATASETS.get(group, ("", False))
        yield ClaimFact(
            word.name,
            text,
            told.unit,
            told.because,
            place,
            dataset,
            metric_as_written=metric if metric != word.name else "",
            is_measurable=word.is_known,
            is_known_dataset=is_known,
        )
