"""Examples that stand before a question: which documents they are."""

import csv
import functools
import io
import json
import os
import random

from ..predictor import ModelError
from .document import with_numbers
from .value import SampleError

_MOST_BYTES = 1 << 28
_MOST_ROWS = 1000000


@functools.lru_cache(maxsize=8)
def documents_in(path):
    """The documents of a file: JSON Lines, a JSON list, CSV or TSV, told apart by content and name."""
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise ModelError("the file of examples has more than %d bytes" % _MOST_BYTES)
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("the file of examples cannot be read: %s" % error)
    rows = _rows(text)
    if not rows or len(rows) > _MOST_ROWS or not all(isinstance(each, dict) for each in rows):
        raise ModelError("the file of examples has no documents with named fields")
    return rows


def _rows(text):
    start = text.lstrip()[:1]
    try:
        if start == "[":
            return json.loads(text)
        if start == "{":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        first = text.partition("\n")[0]
        read = csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ",")
        return with_numbers([dict(each) for each in read])
    except (ValueError, RecursionError, csv.Error) as error:
        raise ModelError("the file of examples cannot be read: %s" % str(error)[:200])


class Drawn(object):
    """Examples for the documents of a dataset, drawn in turn from one stream of random numbers, as
    lm-evaluation-harness does it: which ones a document gets depends on its place."""

    def __init__(self, pool, count, seed, is_own):
        self._pool, self._count, self._is_own = pool, count, is_own
        self._random = random.Random(seed)
        self._drawn = []

    def of(self, document):
        while len(self._drawn) <= document.ordinal:
            asked = len(self._drawn)
            # Where examples are of the very documents that are asked about, these stand in the pool in their order.
            self._drawn.append(self._draw(self._pool[asked] if self._is_own and asked < len(self._pool) else None))
        for places in self._drawn[document.ordinal]:
            found = [self._pool[each] for each in places]
            if self._is_own:
                found = [each for each in found if each != document.fields][: self._count]
            if len(found) == self._count:
                return found
        others = [each for each in self._pool if each != document.fields]
        if len(others) < self._count:
            raise SampleError("%d examples are asked for, and %d are not itself" % (self._count, len(others)))
        return random.Random(document.ordinal).sample(others, self._count)

    def _draw(self, fields):
        """Places of examples for the next document; and others, where it was drawn more than once, as its like is."""
        drawn = self._random.sample(range(len(self._pool)), self._count + self._is_own)
        if fields is None or sum(self._pool[each] != fields for each in drawn) >= self._count:
            return [drawn]
        others = [place for place, each in enumerate(self._pool) if each != fields]
        return [drawn, self._random.sample(others, self._count)] if len(others) >= self._count else [drawn]


class Given(object):
    """Documents that stand in the manifest; the same list is one key of what was drawn."""

    def __init__(self, documents):
        self.documents = documents
        self._key = json.dumps(documents, sort_keys=True)

    def __eq__(self, other):
        return isinstance(other, Given) and self._key == other._key

    def __hash__(self):
        return hash(self._key)


def _pool(source):
    return source.documents if isinstance(source, Given) else documents_in(source)


@functools.lru_cache(maxsize=64)
def _drawn(source, count, seed, is_own):
    pool = _pool(source)
    if count + is_own > len(pool):
        raise ModelError("%d examples are asked for, and there are %d documents to draw from" % (count, len(pool)))
    return Drawn(pool, count, seed, is_own)


def examples_for(document, source, count, pick, seed, is_own):
    """The documents that stand before this one; `source` is a file's path, or what is Given."""
    if not count:
        return []
    if source is None:
        raise SampleError("%d examples are asked for, and no file has any" % count)
    if pick == "sample":
        return _drawn(source, count, seed, int(is_own)).of(document)
    pool = [each for each in _pool(source) if not is_own or each != document.fields]
    if count > len(pool):
        raise SampleError("%d examples are asked for, and there are %d" % (count, len(pool)))
    return pool[:count]
