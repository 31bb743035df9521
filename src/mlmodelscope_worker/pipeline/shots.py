"""Examples that stand before a question: which documents they are."""

import csv
import functools
import io
import json
import os
import random

from ..predictor import ModelError
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
        return [dict(each) for each in csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ",")]
    except (ValueError, RecursionError, csv.Error) as error:
        raise ModelError("the file of examples cannot be read: %s" % str(error)[:200])


class Drawn(object):
    """Examples for the documents of a dataset, drawn one after the other from one stream of random numbers, as
    lm-evaluation-harness does it: which ones a document gets depends on its place."""

    def __init__(self, pool, count, seed, is_own):
        self._pool, self._count, self._is_own = pool, count, is_own
        self._random = random.Random(seed)
        self._drawn = []

    def of(self, document):
        while len(self._drawn) <= document.ordinal:
            self._drawn.append(self._random.sample(range(len(self._pool)), self._count + self._is_own))
        places = self._drawn[document.ordinal]
        found = [self._pool[each] for each in places]
        if self._is_own:
            found = [each for each in found if each != document.fields][: self._count]
        if len(found) < self._count:
            others = [each for each in self._pool if each != document.fields]
            found = random.Random(document.ordinal).sample(others, min(self._count, len(others)))
        return found


@functools.lru_cache(maxsize=64)
def _drawn(path, count, seed, is_own):
    pool = documents_in(path)
    if count + is_own > len(pool):
        raise ModelError("%d examples are asked for, and there are %d documents to draw from" % (count, len(pool)))
    return Drawn(pool, count, seed, is_own)


def examples_for(document, path, count, pick, seed, is_own):
    """The documents that stand before this one."""
    if not count:
        return []
    if path is None:
        raise SampleError("%d examples are asked for, and no file has any" % count)
    if pick == "sample":
        return _drawn(path, count, seed, int(is_own)).of(document)
    pool = [each for each in documents_in(path) if not is_own or each != document.fields]
    if count > len(pool):
        raise SampleError("%d examples are asked for, and there are %d" % (count, len(pool)))
    return pool[:count]
