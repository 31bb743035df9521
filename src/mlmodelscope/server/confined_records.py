"""What the server has confined processes read of records: tables and reports, whose rows may be a stranger's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mlmodelscope.analysis.quality_comparison import compare_qualities
from mlmodelscope.errors import LimitError, UsageError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.files import KeptFile, RecordFiles
from mlmodelscope.record.record import Record
from mlmodelscope.record.search import Search, Wanted
from mlmodelscope.record.store import Store
from mlmodelscope.record.table_check import DAMAGE, read_target
from mlmodelscope.report.classes import wrong_pairs
from mlmodelscope.report.own_content import cut_text
from mlmodelscope.report.report import write_report
from mlmodelscope.server.confined_work import read_settings
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.questions import spelled_of
from mlmodelscope.task.shape import (
    Change,
    ChoicesShape,
    DifferenceShape,
    Shape,
    SpansShape,
    TextShape,
    TokensShape,
    named_by,
    summary,
)
from mlmodelscope.task.spelled import Spelled, Words
from mlmodelscope.task.task import Task, task_named

_SEARCH = Search()
"""What was found is remembered by each process."""
_LONGEST_REPORT = 32 << 20
_LONGEST_TEXT, _LONGEST_IN_LISTS, _LONGEST_PROMPT = 20_000, 400, 40_000
"""Characters of a text that are shown."""
_MOST_TOKENS, _LONGEST_PIECE, _LONGEST_CHOICE = 8192, 100, 2000
_LARGEST_SHOWN = 1 << 20
"""Pictures of a list that are larger are not looked into for it."""


def found_samples(
    folder: str, task: str, names: list[str], wanted: dict[str, Any], start: int, limit: int
) -> dict[str, Any]:
    """Some samples, how many there are, and what they can be told apart by."""
    asked = Wanted(**{**wanted, "named": frozenset(wanted["named"])})
    found, total = _SEARCH.page(Path(folder), asked, start, limit, largest=_LARGEST_SHOWN)
    offers = _SEARCH.offers(Path(folder))
    known = task_named(task)
    items = found if "right" in offers else [_told(known, names, row) for row in found]
    return {"items": items, "total": total, "offers": offers}


def _told(task: Task, names: list[str], row: dict[str, Any]) -> dict[str, Any]:
    """Without what only programs of ours can read; what is in a picture is said in a few words."""
    kept = {name: row[name] for name in ("id", "digest", "error", "answer", "run_ns", "quality")}
    try:
        shapes = task.glanced(row, named_by(names))
    except DAMAGE:
        return kept
    if not shapes:
        return kept
    truth, said = (cut_text(summary(shapes, side), _LONGEST_IN_LISTS) for side in ("truth", "answer"))
    return {**kept, "truth": truth, "said": said}


def seen_sample(folder: str, task: str, names: list[str], sample: str, target: str | None) -> dict[str, Any] | None:
    """What there is to see of one sample, None where the table has none of this name; `target` is the dataset's."""
    row = _SEARCH.one(Path(folder), sample)
    if row is None:
        return None
    try:
        shapes = task_named(task).shapes(row, json.loads(target) if target else None, named_by(names))
        size = read_target(row["target"]).get("size") if row.get("target") else None
    except DAMAGE:
        raise UsageError(f"what there is to see of `{sample[:200]}` cannot be read: its row is damaged") from None
    return {
        "quality": quality_of(row.get("score")),
        "size": [size[1], size[0]] if size else None,
        "shapes": [asdict(_shortened(each)) for each in shapes],
    }


def kept_prompt(folder: str, sample: str) -> dict[str, Any] | None:
    """What a record keeps of a language model's prompt, None where the table has no sample of this name."""
    row = _SEARCH.one(Path(folder), sample)
    if row is None:
        return None
    try:
        found = spelled_of(row)
    except DAMAGE:
        raise UsageError(f"the prompt of `{sample[:200]}` cannot be read: its row is damaged") from None
    if found is None or not found.contexts:
        raise UsageError(
            f"the record keeps no prompt of `{sample[:200]}`",
            hint="records of language models do, unless the plan says `keep: tokens` or `keep: nothing`",
        )
    return _prompt(found)


def _prompt(found: Spelled) -> dict[str, Any]:
    contexts = [
        {
            **_words(each.words, last=True),
            "dropped": each.dropped,
            "turns": [
                {"role": cut_text(turn.role, 100), "text": cut_text(turn.text, _LONGEST_PROMPT)} for turn in each.turns
            ],
        }
        for each in found.contexts
    ]
    rows = [
        {**_words(each.words, last=False), "context": each.context, "choice": each.choice, "alone": each.alone}
        for each in found.rows
    ]
    return {"call": found.call, "contexts": contexts, "rows": rows}


def _words(words: Words, last: bool) -> dict[str, Any]:
    """As it was kept; of a stranger's no more than ours keep."""
    if words.tokens is None:
        part, tokens, pieces = slice(0), None, []
    else:
        part = slice(max(0, len(words.tokens) - _MOST_TOKENS), None) if last else slice(_MOST_TOKENS)
        tokens, pieces = list(words.tokens[part]), [cut_text(each, _LONGEST_PIECE) for each in words.pieces[part]]
    return {
        "text": None if words.text is None else cut_text(words.text, _LONGEST_PROMPT),
        "omitted": words.omitted,
        "end": cut_text(words.end, _LONGEST_PROMPT),
        "tokens": tokens,
        "pieces": pieces,
        "more": words.more + len(words.tokens or ()) - len(tokens or ()),
    }


def _shortened(shape: Shape) -> Shape:
    """No more of a text than somebody reads."""
    if isinstance(shape, TextShape | SpansShape):
        return replace(shape, text=cut_text(shape.text, _LONGEST_TEXT))
    if isinstance(shape, TokensShape):
        kept = tuple((cut_text(piece, _LONGEST_PIECE), token, log) for piece, token, log in shape.tokens[:_MOST_TOKENS])
        return replace(shape, tokens=kept, more=shape.more + len(shape.tokens) - len(kept))
    if isinstance(shape, ChoicesShape):
        return replace(shape, choices=tuple(cut_text(each, _LONGEST_CHOICE) for each in shape.choices))
    if not isinstance(shape, DifferenceShape):
        return shape
    left, parts = _LONGEST_TEXT, list[tuple[Change, str, str]]()
    for change, due, said in shape.parts:
        if left <= 0:
            return replace(shape, parts=(*parts, ("equal", "…", "…")))
        parts.append((change, cut_text(due, left), cut_text(said, left)))
        left -= max(len(due), len(said)) + 1
    return shape if left > 0 else replace(shape, parts=tuple(parts))


def compared_qualities(records: list[str], folders: list[str], most: int) -> dict[str, Any]:
    """Of two records, the samples with other answers, by what became of them: some of each kind, and how many."""
    first, second = (Record.model_validate_json(each) for each in records)
    store = FolderStore({each.id: Path(folder) for each, folder in zip((first, second), folders, strict=True)})
    try:
        found = compare_qualities(first, second, store)
    except (*DAMAGE, OSError) as error:  # Arrow's errors are these
        raise UsageError(f"what cannot be read cannot be compared: {str(error)[:200]}") from None
    changed = found.changed()
    return {
        "samples": len(found.pairs),
        "only_one": found.only_one,
        "same": sum(each.same for each in found.pairs),
        "mean_change": found.mean_change,
        "counts": {kind: len(pairs) for kind, pairs in changed.items()},
        "changed": [{**asdict(each), "kind": kind} for kind, pairs in changed.items() for each in pairs[:most]],
    }


def taken_for(file: str) -> list[tuple[tuple[int, int], int]]:
    """((what was there, what was said), how often)."""
    return wrong_pairs(Path(file))


class _Files(RecordFiles):
    """Of records that were looked at before."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def place(self, record: str) -> Path:
        return self._folders[record]

    def known(self, record: str) -> list[KeptFile]:
        return []

    def fetch(self, record: str) -> None:
        """They are here."""


class FolderStore(Store):
    """The files of some records by their ids and no database: all that a report or a comparison needs."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.files = _Files(folders)


def reported(record: str, folder: str, settings: dict[str, Any], form: str) -> bytes:
    """A report, with the pictures that are here."""
    artifacts = ArtifactStore(read_settings(settings))
    try:
        known = Record.model_validate_json(record)
        text = write_report(known, FolderStore({known.id: Path(folder)}), artifacts, form)
    except DAMAGE as error:
        raise UsageError(f"there is no report of what cannot be read: {str(error)[:200]}") from None
    found = text.encode()
    if len(found) > _LONGEST_REPORT:
        raise LimitError(
            f"this report has more than {_LONGEST_REPORT >> 20} MiB, which this server does not write",
            hint="mlmodelscope pull RECORD fetches the record, and mlmodelscope report writes it on your machine",
        )
    return found
