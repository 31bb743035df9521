"""factRuEval-2016: Russian news with spans, and objects that are made of them.

What counts as a person, a place or an organization is what slovnet's authors measure by: a person reaches from its
first span to its last one, an organization is each of its `org_name`, and a place each `loc_name` of a Location or a
LocOrg. Of spans that overlap, the one that starts first is kept, and of those the longest: within an object, and then
over all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.lines import lines_of
from mlmodelscope.dataset.parts import sample_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.standoff import documents
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

_NAMED = {"Org": ("ORG", "org_name"), "LocOrg": ("LOC", "loc_name"), "Location": ("LOC", "loc_name")}
_PERSON = ("Person", "PER")
_WHOLE = "all"
"""Both folders together, which the published numbers are of."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str


@dataset_format("factrueval", has_targets=True)
def read_factrueval(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """factRuEval-2016: texts with `.spans` and `.objects` beside them; a `split` is a folder, or `all`."""
    found = []
    for name, text in documents(source, dataset):
        if dataset.split not in (None, _WHOLE, *name.split("/")[:-1]):
            continue
        spans = _spans(NamedFile(source.path / f"{name}.spans", f"{name}.spans"), text)
        objects = _objects(NamedFile(source.path / f"{name}.objects", f"{name}.objects"), spans)
        kept = [[each.start, each.end, each.kind] for each in _apart(objects)]
        # It has no tokens: the published numbers count those of razdel, which slovnet's answers bring along.
        found.append(sample_of(name, {"text": {"text": text}}, None, {"spans": kept, "text": text}))
    if not found:
        raise DatasetError(f"{source.name} holds no folder `{dataset.split}` with texts")
    return found


def _spans(file: NamedFile, text: str) -> dict[int, _Span]:
    found = {}
    for where, words in _lines(file):
        try:
            number, kind, start, length = int(words[0]), words[1], int(words[2]), int(words[3])
        except (ValueError, IndexError):
            raise DatasetError(f"{where} is not an id, a type, a start and a length") from None
        if start < 0 or length < 1 or start + length > len(text):
            raise DatasetError(f"{where} has a span from {start} of {length} in a text of {len(text)} characters")
        found[number] = _Span(start, start + length, kind)
    return found


def _objects(file: NamedFile, spans: dict[int, _Span]) -> Iterator[_Span]:
    for where, words in _lines(file):
        if len(words) < 2:
            raise DatasetError(f"{where} has no type")
        own = []
        for word in words[2:]:
            if not word.isdecimal() or len(word) > 18:
                break
            if int(word) not in spans:
                raise DatasetError(f"{where} names the span {word[:20]}, which is not in the file of spans")
            own.append(spans[int(word)])
        yield from _apart(_named(words[1], own))


def _named(kind: str, spans: list[_Span]) -> Iterator[_Span]:
    if kind == _PERSON[0] and spans:
        yield _Span(min(each.start for each in spans), max(each.end for each in spans), _PERSON[1])
    elif kind in _NAMED:
        name, wanted = _NAMED[kind]
        yield from (_Span(each.start, each.end, name) for each in spans if each.kind == wanted)


def _apart(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Those that overlap no earlier one."""
    end = 0
    for each in sorted(spans, key=lambda span: (span.start, -span.end)):
        if each.start >= end:
            yield each
            end = each.end


def _lines(file: NamedFile) -> Iterator[tuple[str, list[Any]]]:
    if not file.path.is_file():
        raise DatasetError(f"there is no {file.name} beside its text")
    if not file.path.stat().st_size:
        return
    for number, line in lines_of(file):
        words = line.split()
        if words:
            if len(words[0]) > 18 or any(len(each) > 100 for each in words[:4]):
                raise DatasetError(f"line {number} of {file.name} is not one of factRuEval: {line[:80]}")
            yield f"line {number} of {file.name}", words
