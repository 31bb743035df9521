"""Answers that a search has got, kept beside the cache: an interrupted search resumes where it left off."""

from __future__ import annotations

import array
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from mlmodelscope.task.class_answer import ClassAnswer

Answer = ClassAnswer | bytes | None
"""The best classes, the score of an answer that is more than that, or none where a sample failed."""
_SCHEMA = """
create table if not exists answers (
    pipeline text not null, sample integer not null, classes blob, scores blob, primary key (pipeline, sample)
) without rowid
"""


class KeptAnswers:
    """A table of answers by pipeline and sample. What it cannot keep is only computed again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = _open(path)
        except sqlite3.DatabaseError:  # half a file of a machine that went down
            path.unlink(missing_ok=True)
            self._database = _open(path)

    def close(self) -> None:
        self._database.close()

    def of(self, pipeline: str) -> dict[int, Answer]:
        rows = self._database.execute("select sample, classes, scores from answers where pipeline = ?", (pipeline,))
        return {sample: _answer(classes, scores) for sample, classes, scores in rows}

    def add(self, answers: Mapping[str, Mapping[int, Answer]]) -> None:
        """By pipeline, then by sample."""
        rows = [
            (pipeline, sample, *_blobs(answer)) for pipeline, each in answers.items() for sample, answer in each.items()
        ]
        try:
            with self._database:
                self._database.executemany("insert or ignore into answers values (?, ?, ?, ?)", rows)
        except sqlite3.OperationalError:
            pass  # locked by another search, or no space: nothing is lost but time


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=5)
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = off")
    database.execute(_SCHEMA)
    return database


def _blobs(answer: Answer) -> tuple[bytes | None, bytes | None]:
    """A score is kept in place of classes."""
    if answer is None:
        return None, None
    if isinstance(answer, bytes):
        return answer, None
    return array.array("q", answer.classes).tobytes(), array.array("d", answer.scores).tobytes()


def _answer(classes: bytes | None, scores: bytes | None) -> Answer:
    if classes is None or scores is None:
        return classes
    return ClassAnswer(tuple(array.array("q", classes)), tuple(array.array("d", scores)))
