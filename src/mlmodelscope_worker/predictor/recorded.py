"""Recorded answers: a table of samples and what a model said of each, in place of a model.

The manifest's input says which column names the sample, its output which one has the answer; columns are names, or
numbers from 0. A folder is all its tables. CSV, TSV, and JSON Lines are told apart by their names.
"""

import csv
import io
import json
import os

from ..parameters import Integer
from .predictor import ModelError, Predictor, predictor

_MOST_BYTES = 1 << 30
_DELIMITERS = {".tsv": "\t", ".tab": "\t"}


@predictor(packages=())
def recorded(files, *, threads: Integer("Ignored; here so that plans look alike.", at_least=1) = 1):
    """Answers out of a file, without any framework: published predictions are scored as if a model had made them."""
    return Recorded(files["graph"])


class Recorded(Predictor):
    """The tables, read as they are; which columns count is said when the session opens."""

    concurrent = True

    def __init__(self, path):
        self._tables = [_rows(each) for each in _files(path)]

    def by_sample(self, name_column, answer_column):
        """{sample: answer}; a sample that has two different ones is refused."""
        found = {}
        for rows in self._tables:
            for number, row in enumerate(rows, 1):
                name = _name(_cell(row, name_column, rows, number), number)
                answer = _cell(row, answer_column, rows, number)
                if name in found and _spelled(found[name]) != _spelled(answer):
                    raise ModelError("there are two recorded answers for `%s`" % name[:80])
                found[name] = answer
        return found


def _name(value, number):
    """A sample's name as a text: a number and the same number in quotes are one name."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        words = (number, str(value)[:80])
        raise ModelError(
            "line %d of the recorded answers names no sample: %s is neither a text nor a whole number" % words
        )
    return str(value)


def _spelled(answer):
    """For comparison: not-a-number equals itself, and true is not 1."""
    return json.dumps(answer, sort_keys=True)


def _files(path):
    if not os.path.isdir(path):
        return [path]
    names = sorted(each for each in os.listdir(path) if not each.startswith("."))
    if not names:
        raise ModelError("the folder of recorded answers is empty")
    return [os.path.join(path, each) for each in names]


def _rows(path):
    """A list of cells, or an object, for each line."""
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise ModelError("a file of recorded answers has more than %d bytes" % _MOST_BYTES)
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("the recorded answers cannot be read: %s" % error)
    if text.lstrip()[:1] == "{":
        return [_json(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    ending = os.path.splitext(path)[1].lower()
    try:
        return list(csv.reader(io.StringIO(text), delimiter=_DELIMITERS.get(ending, ",")))
    except csv.Error as error:
        raise ModelError("the recorded answers are not a table: %s" % error)


def _json(line, number):
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ModelError("line %d of the recorded answers is not JSON" % number)
    if not isinstance(found, dict):
        raise ModelError("line %d of the recorded answers is not an object" % number)
    return found


def _cell(row, column, rows, number):
    if isinstance(row, dict):
        place = str(column)
        known = row
    else:
        place = column
        if isinstance(column, str):
            place = rows[0].index(column) if column in rows[0] else None
        known = range(len(row))
    if place is None or place not in known:
        raise ModelError("line %d of the recorded answers has no column `%s`" % (number, column))
    return row[place]
