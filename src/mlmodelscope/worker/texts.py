"""When the tokens of answers came, in a run of load on a language model: a row for each text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope_worker.messages import UNKNOWN

COLUMNS = ("queries", "given", "written", "first_ns", "last_ns")


@dataclass(frozen=True)
class Texts:
    """Columns of the same length."""

    queries: array[int]
    """The number of the query that each was part of."""
    given: array[int]
    """Tokens of the question; -1 where a server makes them out of sight."""
    written: array[int]
    """Tokens of the answer, one that ends it included."""
    first_ns: array[int]
    """From the beginning of the query to the first token; -1 where nobody knows when it came."""
    last_ns: array[int]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def tokens_given(self) -> int | None:
        """Tokens of all questions; none where one is unknown."""
        return None if UNKNOWN in self.given else sum(self.given)

    @property
    def tokens_written(self) -> int:
        return sum(self.written)

    def first_s(self, waited_ns: Sequence[int]) -> list[float]:
        """Seconds from when a query was due to the first token of each text, in order; `waited_ns` by query."""
        pairs = zip(self.queries, self.first_ns, strict=True)
        return [(waited_ns[query] + first) / 1e9 for query, first in pairs if first != UNKNOWN]

    def each_s(self) -> list[float]:
        """Seconds for each token after the first, of texts that have several."""
        rows = zip(self.written, self.first_ns, self.last_ns, strict=True)
        return [(last - first) / 1e9 / (count - 1) for count, first, last in rows if first != UNKNOWN and count > 1]


def joined(parts: Sequence[tuple[Texts, int]]) -> Texts:
    """Texts of several runs as those of one; each with how many queries there were before it."""
    columns = [array("q") for _ in COLUMNS]
    for texts, before in parts:
        columns[0].extend(before + query for query in texts.queries)
        for column, name in zip(columns[1:], COLUMNS[1:], strict=True):
            column.extend(getattr(texts, name))
    return Texts(*columns)
