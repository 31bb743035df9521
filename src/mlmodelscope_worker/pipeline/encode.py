"""Texts of a table become numbers: codes, a column for each category, or a number from a table."""

from ..parameters import Choice, File, Flag, Number, ParameterError
from .column_values import Categories, Codes, checked, of_file, once
from .columns import ROWS, add_column
from .row import Row, spell_cell, spelled
from .step import choose_one, step
from .value import SampleError

_CATEGORIES = Categories("For each column its categories, in the order of their codes.")
_TABLE = Codes("For `target`: for each column a number for each category.")


def _settle(parameters):
    choose_one(parameters, "categories", "table", "file")
    method, unknown = parameters["method"], parameters["unknown"]
    if parameters["table"] is not None and method != "target":
        raise ParameterError("only `method: target` takes a table", parameter="table")
    if parameters["categories"] is not None and method == "target":
        raise ParameterError("`method: target` takes a `table` of numbers", parameter="categories")
    if parameters["drop"] != "none" and method != "one_hot":
        raise ParameterError("only `method: one_hot` has a column to drop", parameter="drop")
    if unknown == "ignore" and method != "one_hot":
        raise ParameterError("only `method: one_hot` can ignore what is unknown", parameter="unknown")
    if unknown == "code" and method == "one_hot":
        raise ParameterError("`method: one_hot` has no code for what is unknown", parameter="unknown")
    if (unknown == "code") != (parameters["unknown_code"] is not None):
        raise ParameterError("`unknown: code` and `unknown_code` need each other", parameter="unknown_code")
    return parameters


@step(takes=ROWS, settle=_settle)
def encode(
    row,
    *,
    method: Choice(
        "`ordinal`: a category's place in the list; `one_hot`: a column for each, 1 for the cell's own; "
        "`target`: a number from a table.",
        "ordinal",
        "one_hot",
        "target",
    ) = "ordinal",
    categories: _CATEGORIES = None,
    table: _TABLE = None,
    file: File("Which of the manifest's `files` has the categories, or the table.") = None,
    drop: Choice(
        "For `one_hot`: leave out each column's first category, or that of columns with two.",
        "none",
        "first",
        "if_binary",
    ) = "none",
    unknown: Choice(
        "A category that is not listed: the sample fails, no column is 1, or it gets `unknown_code`.",
        "error",
        "ignore",
        "code",
    ) = "error",
    unknown_code: Number("The number of what is not listed.") = None,
    keep_missing: Flag("A missing cell becomes NaN; without it, missing is a category like others.") = False,
):
    """Make numbers of categories, as scikit-learn's OrdinalEncoder, OneHotEncoder and TargetEncoder do."""
    if method == "target":
        known = _codes(table if table is not None else _table_of_file(file))
    else:
        known = _places(categories if categories is not None else _categories_of_file(file))
    if method == "one_hot":
        return _one_hot(row, known, drop, unknown, keep_missing)
    new = {}
    for name, codes in known.items():
        value = row.cell(name)
        if value is None and keep_missing:
            new[name] = float("nan")
            continue
        code = codes.get(spelled(value))
        if code is None:
            code = unknown_code if unknown == "code" else refuse(name, value, codes)
        new[name] = code
    return row.changed(new)


def _one_hot(row, known, drop, unknown, keep_missing):
    cells = {}
    for name, value in row.cells.items():
        if name not in known:
            add_column(cells, name, value)
            continue
        codes = known[name]
        is_missing = value is None and keep_missing
        own = codes.get(spelled(value))
        if own is None and unknown == "error" and not is_missing:
            refuse(name, value, codes)
        first = 1 if drop == "first" or (drop == "if_binary" and len(codes) == 2) else 0
        for category, code in codes.items():
            if code >= first:
                add_column(cells, "%s_%s" % (name, category), float("nan") if is_missing else float(code == own))
    for name in known:
        row.cell(name)  # a column that is not there must be told
    return Row(cells)


def refuse(name, value, codes):
    shown = ", ".join(str(each) for each in list(codes)[:8]) + (", …" if len(codes) > 8 else "")
    words = (name, spell_cell(value), shown)
    raise SampleError("column `%s` is %s, which is not one of its categories: %s" % words)


@once
def _places(categories):
    """{column: {category: its place}}."""
    return {name: {spelled(each): float(place) for place, each in enumerate(some)} for name, some in categories.items()}


@once
def _codes(table):
    return {name: {spelled(key): value for key, value in some.items()} for name, some in table.items()}


@once
def _categories_of_file(path):
    return checked(_CATEGORIES, of_file(path, ("category",)), path)


@once
def _table_of_file(path):
    return checked(_TABLE, of_file(path, ("category", "value")), path)
