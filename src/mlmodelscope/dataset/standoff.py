"""Spans in files beside the texts, as brat writes them: `T1<tab>PER 0 5<tab>Maria`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.lines import LONGEST_LINE, lines_of
from mlmodelscope.dataset.parts import sample_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SPAN = re.compile(r"(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)")


@dataset_format("spans", has_targets=True)
def read_spans(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Text files, and for each a file of spans as brat writes them (`.ann`, beside it or below `labels_url`)."""
    root = labels or source
    found = []
    for name, text in documents(source, dataset):
        notes = NamedFile(root.path / f"{name}.ann", f"{name}.ann")
        if not notes.path.is_file():
            raise DatasetError(f"`{name}.txt` has no spans: {root.name} holds no `{name}.ann`")
        spans = sorted(_spans(notes, text)) if notes.path.stat().st_size else []
        tokens = [list(each.span()) for each in _TOKEN.finditer(text)]
        found.append(sample_of(name, {"text": {"text": text}}, None, {"spans": spans, "tokens": tokens, "text": text}))
    return found


def documents(source: NamedFile, dataset: PlannedDataset) -> Iterator[tuple[str, str]]:
    """(name without its ending, text) of every text file; characters are counted as they are in the file."""
    if not source.path.is_dir():
        raise DatasetError(f"{source.name} is not a folder of text files")
    names = [
        name
        for name in list_files(source.path)
        if name.endswith(".txt")
        and not is_hidden(name)
        and fnmatch.fnmatchcase(name.rpartition("/")[2], dataset.include)
    ]
    if not names:
        raise DatasetError(f"{source.name} holds no .txt file whose name matches `{dataset.include}`")
    for name in names:
        path = source.path / name
        if path.stat().st_size > LONGEST_LINE:
            raise DatasetError(f"{name} is longer than {LONGEST_LINE >> 20} MiB")
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise DatasetError(f"{name} is not UTF-8 text", hint="save it in this encoding") from None
        yield name.removesuffix(".txt"), text


def _spans(notes: NamedFile, text: str) -> Iterator[list[Any]]:
    """[start, end, type]; one in several pieces reaches from its first character to its last one."""
    for number, line in lines_of(notes):
        if not line.startswith("T"):  # relations, events and notes are about spans
            continue
        where = f"line {number} of {notes.name}"
        columns = line.split("\t")
        match = _SPAN.fullmatch(columns[1]) if len(columns) > 1 else None
        if match is None:
            raise DatasetError(f"{where} is not a span such as `T1<tab>PER 0 5<tab>Maria`: {line[:80]}")
        places = [int(each) for each in re.split("[ ;]", match[2])]
        start, end = min(places), max(places)
        if start >= end or end > len(text):
            raise DatasetError(f"{where} has a span from {start} to {end} in a text of {len(text)} characters")
        said = columns[2] if len(columns) > 2 else None
        if said is not None and len(places) == 2 and said != re.sub(r"[\r\n]", " ", text[start:end]):
            raise DatasetError(f"{where} says `{said[:60]}`, and the text has `{text[start:end][:60]}` there")
        yield [start, end, match[1]]
