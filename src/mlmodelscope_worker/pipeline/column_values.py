"""What steps of tables are told for each column: in the manifest, or in a file beside the model.

A file is JSON, `{column: value}`, or CSV with a line for each column (or category), whose first line names `column`
and what it holds. Steps take it where they take the same values as parameters, and the same rules hold.
"""

import csv
import functools
import io
import json

from ..parameters import Kind, ParameterError, spell
from .row import MOST_COLUMNS, spelled

MOST_BYTES = 1 << 26
_QUOTES = "put it in quotes: without them YAML takes yes, no, on and off for true and false"


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1.7e308


class PerColumn(Kind):
    """One value for all columns, or one for each by its name."""

    def __init__(self, meaning, texts=False, nonzero=False):
        Kind.__init__(self, meaning)
        self.texts = texts
        self.nonzero = nonzero

    def check(self, value):
        if not isinstance(value, dict):
            return self._each(value, "")
        if not 1 <= len(value) <= MOST_COLUMNS:
            raise ParameterError("expected columns with their values, saw %s" % spell(value))
        return {str(name): self._each(each, " of column `%s`" % name) for name, each in value.items()}

    def _each(self, value, where):
        if isinstance(value, str) and self.texts:
            return value
        if not _is_number(value):
            due = "a number or a text" if self.texts else "a number"
            raise ParameterError("expected %s, saw %s%s" % (due, spell(value), where))
        if self.nonzero and value == 0:
            hint = "write 1 for a column that never changes, as scikit-learn does"
            raise ParameterError("a divisor%s cannot be 0" % where, hint=hint)
        return value if self.texts else float(value)

    def schema(self):
        one = {"type": "number", "not": {"const": 0}} if self.nonzero else {"type": "number"}
        one = {"anyOf": [one, {"type": "string"}]} if self.texts else one
        many = {"type": "object", "additionalProperties": one, "minProperties": 1, "maxProperties": MOST_COLUMNS}
        return {"anyOf": [one, many]}


class Categories(Kind):
    """For each column its categories, in the order of their codes."""

    def check(self, value):
        if not isinstance(value, dict) or not 1 <= len(value) <= MOST_COLUMNS:
            raise ParameterError("expected columns, each with a list of categories, saw %s" % spell(value))
        return {str(name): self._list(name, each) for name, each in value.items()}

    def _list(self, name, given):
        if not isinstance(given, (list, tuple)) or not 1 <= len(given) <= MOST_COLUMNS:
            raise ParameterError("expected a list of categories for column `%s`, saw %s" % (name, spell(given)))
        for each in given:
            if each is not None and not isinstance(each, str) and not _is_number(each):
                raise ParameterError("%s of column `%s` is not a text or a number" % (spell(each), name), hint=_QUOTES)
        seen = set()
        for each in map(spelled, given):
            if each in seen:
                raise ParameterError("column `%s` has the category %s twice" % (name, spell(each)))
            seen.add(each)
        return list(given)

    def schema(self):
        category = {"type": ["string", "number", "null"]}
        some = {"type": "array", "items": category, "minItems": 1, "maxItems": MOST_COLUMNS}
        return {"type": "object", "additionalProperties": some, "minProperties": 1, "maxProperties": MOST_COLUMNS}


class Codes(Kind):
    """For each column its categories, each with a number."""

    def check(self, value):
        if not isinstance(value, dict) or not 1 <= len(value) <= MOST_COLUMNS:
            raise ParameterError("expected columns, each with numbers by category, saw %s" % spell(value))
        return {str(name): self._table(name, each) for name, each in value.items()}

    def _table(self, name, given):
        if not isinstance(given, dict) or not 1 <= len(given) <= MOST_COLUMNS:
            raise ParameterError("expected numbers by category for column `%s`, saw %s" % (name, spell(given)))
        for key, each in given.items():
            if not isinstance(key, str) and not _is_number(key):
                raise ParameterError("%s of column `%s` is not a text or a number" % (spell(key), name), hint=_QUOTES)
            if not _is_number(each):
                raise ParameterError("expected a number for each category of `%s`, saw %s" % (name, spell(each)))
        return {spelled(key): float(each) for key, each in given.items()}

    def schema(self):
        table = {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1}
        return {"type": "object", "additionalProperties": table, "minProperties": 1, "maxProperties": MOST_COLUMNS}


class _Held(object):
    """One very object, whatever it is equal to."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing

    def __hash__(self):
        return id(self.thing)

    def __eq__(self, other):
        return self.thing is other.thing


def once(function):
    """Remember what a function made of these very objects: a step gets the same parameters for every sample."""
    kept = functools.lru_cache(maxsize=128)(lambda *held: function(*[each.thing for each in held]))

    def call(*things):
        return kept(*[_Held(each) for each in things])

    return call


def of_file(path, fields):
    """What a file says of each column: {column: value}, checked as the parameter of this kind would be.

    `fields` are what a line of a CSV file has beside `column`.
    """
    return _read(path, fields)


@functools.lru_cache(maxsize=32)
def _read(path, fields):
    from ..predictor import ModelError

    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError("it is larger than %d bytes" % MOST_BYTES)
        text = content.decode("utf-8-sig")
        found = json.loads(text) if text.lstrip().startswith(("{", "[")) else _of_csv(text, fields)
        if not isinstance(found, dict) or not found:
            raise ValueError("it must hold values by column")
        return found
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise ModelError("cannot read the values of columns: %s" % (str(error).split("\n")[0][:200],))


def _of_csv(text, fields):
    """A mapping as JSON would have it: values, lists of categories, or mappings, whichever the fields are."""
    lines = csv.DictReader(io.StringIO(text), strict=True)
    names = lines.fieldnames or []
    if "column" not in names or not set(fields) & set(names):
        raise ValueError("its first line must name `column` and %s" % ", ".join("`%s`" % each for each in fields))
    found = {}
    for line in lines:
        column, given = line["column"], {name: line.get(name) for name in fields if name in names}
        if "category" in given:
            if "value" in given:
                found.setdefault(column, {})[given["category"]] = _cell(given["value"])
            else:
                found.setdefault(column, []).append(given["category"])
        elif column in found:
            raise ValueError("column `%s` has two lines" % column)
        elif fields == ("value",):
            found[column] = _cell(given["value"])
        else:
            found[column] = {name: _cell(value) for name, value in given.items() if value not in (None, "")}
    return found


def _cell(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def checked(kind, found, path):
    """What a file says, by the rules of a parameter."""
    from ..predictor import ModelError

    try:
        return kind.check(found)
    except ParameterError as error:
        raise ModelError("cannot use the values of columns: %s" % error.message)
