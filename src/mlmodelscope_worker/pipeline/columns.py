"""Steps of tables: which columns, in which order; what stands for missing cells; limits and simple functions."""

import itertools
import re

from ..parameters import Choice, File, Flag, Integer, Names, ParameterError
from .column_values import PerColumn, checked, of_file, once
from .row import MOST_COLUMNS, Row, spell_cell, spell_names
from .step import choose_one, step
from .value import SampleError

ROWS = ("row", "columns")
"""A row by itself, and one whose columns are in the order that the model takes."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\Z")


def refuse_twice(names, parameter):
    """Refuse a list that has a name two times."""
    seen = set()
    for name in names or ():
        if name in seen:
            raise ParameterError("column `%s` stands there twice" % name, parameter=parameter)
        seen.add(name)


def _settle_columns(parameters):
    refuse_twice(parameters["names"], "names")
    return parameters


@step(takes=ROWS, gives="columns", main="names", settle=_settle_columns)
def columns(
    row,
    *,
    names: Names("The columns that the model takes."),
    order: Choice(
        "In which order it takes them: `listed` here, or as the dataset's `table` has them.", "listed", "table"
    ) = "listed",
):
    """Choose columns, in the order that the model takes them; others are left out."""
    cells = row.cells
    try:
        chosen = {name: cells[name] for name in names}
    except KeyError as error:
        raise SampleError("it has no column `%s`; its columns are %s" % (error.args[0], spell_names(cells)))
    return Row(chosen if order == "listed" else {name: value for name, value in cells.items() if name in chosen})


_FILLS = PerColumn("What stands for a missing cell: one value for all columns, or one for each.", texts=True)


def _settle_fill(parameters):
    if parameters["method"] == "nan":
        for name in ("values", "file"):
            if parameters[name] is not None:
                raise ParameterError("`nan` takes no `%s`" % name, parameter=name)
    else:
        choose_one(parameters, "values", "file")
    if isinstance(parameters["values"], dict) and parameters["columns"] is not None:
        raise ParameterError("`values` names the columns already", parameter="columns")
    refuse_twice(parameters["columns"], "columns")
    refuse_twice(parameters["indicator"], "indicator")
    return parameters


@step(takes=ROWS, settle=_settle_fill)
def fill_missing(
    row,
    *,
    values: _FILLS = None,
    file: File("Which of the manifest's `files` has a value for each column.") = None,
    method: Choice("`nan` makes missing cells NaN, for models that take it as such.", "values", "nan") = "values",
    missing: Names("Texts that count as missing as well, such as NA; a cell without content always does.") = None,
    columns: Names("Where one value stands for all: only these columns.") = None,
    indicator: Names("Columns that get one more at the end: 1 where the cell was missing, else 0.") = None,
):
    """Put something in place of missing cells: the means or medians of the training data, a constant, or NaN."""
    if file is not None:
        values = _values_of_file(file)
    cells = dict(row.cells)
    if missing is not None:
        for name, value in cells.items():
            if isinstance(value, str) and value in missing:
                cells[name] = None
    told = [("missingindicator_" + name, 1 if row_cell(cells, name) is None else 0) for name in indicator or ()]
    if method == "nan":
        values = float("nan")
    for name in values if isinstance(values, dict) else columns if columns is not None else list(cells):
        if row_cell(cells, name) is None:
            cells[name] = values[name] if isinstance(values, dict) else values
    for name, value in told:
        add_column(cells, name, value)
    return Row(cells)


def row_cell(cells, name):
    """A cell; SampleError where there is no such column."""
    return cells[name] if name in cells else Row(cells).cell(name)


def add_column(cells, name, value):
    """One more column at the end."""
    if name in cells:
        raise SampleError("a step makes a column `%s`, and there is one already" % name)
    cells[name] = value


@once
def _values_of_file(path):
    return checked(_FILLS, of_file(path, ("value",)), path)


@step(takes=ROWS, main="columns")
def to_numbers(
    row,
    *,
    columns: Names("Which columns; by default all whose cell is a text that reads as a number.") = None,
    decimal: Choice("What stands before the fraction.", ".", ",") = ".",
):
    """Read texts as numbers, where a column of a file has both."""
    new = {}
    for name in row.cells if columns is None else columns:
        value = row.cell(name)
        if isinstance(value, str):
            found = _read_number(value, decimal)
            if found is not None:
                new[name] = found
            elif columns is not None:
                raise SampleError("column `%s` is %s, which is not a number" % (name, spell_cell(value)))
    return row.changed(new)


def _read_number(text, decimal):
    """A finite number as files write it; None for everything else, such as `nan` and `1_000`."""
    if not _NUMBER.match(text.strip().replace(decimal, ".")) or len(text) > 400:
        return None
    value = float(text.strip().replace(decimal, "."))
    return value if value - value == 0.0 else None


def _settle_clip(parameters):
    low, high = parameters["low"], parameters["high"]
    if low is None and high is None:
        raise ParameterError("`low` or `high` is needed, saw none")
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise ParameterError("low is above high", parameter="low")
    return parameters


@step(takes=ROWS, settle=_settle_clip)
def clip_columns(
    row,
    *,
    low: PerColumn("Smaller numbers become this: one for all columns, or one for each.") = None,
    high: PerColumn("Larger numbers become this: one for all columns, or one for each.") = None,
):
    """Keep numbers within limits. What is missing stays so."""
    cells = dict(row.cells)
    for limits, choose in ((low, max), (high, min)):
        if limits is None:
            continue
        for name in limits if isinstance(limits, dict) else list(cells):
            value = row.known(name)
            if value is not None and value == value:
                cells[name] = choose(cells[name], limits[name] if isinstance(limits, dict) else limits)
    return Row(cells)


FUNCTIONS = ("log1p", "log", "log2", "log10", "expm1", "exp", "sqrt", "cbrt", "square", "absolute", "reciprocal")


@step(takes=ROWS, main="function")
def transform_columns(
    row,
    *,
    function: Choice("What is computed of each number, as NumPy's function of this name does.", *FUNCTIONS),
    columns: Names("Of these columns; by default of all.") = None,
):
    """Replace numbers by a function of each, such as their logarithm."""
    import numpy as np

    new = {}
    for name in row.cells if columns is None else columns:
        before = row.known(name)
        if before is None:
            continue
        with np.errstate(all="ignore"):
            value = float(getattr(np, function)(np.float64(before)))
        if value - value != 0.0 and before == before:
            raise SampleError("column `%s` is %r, which has no `%s`" % (name, before, function))
        new[name] = value
    return row.changed(new)


@step(takes="columns", main="degree")
def polynomial(
    row,
    *,
    degree: Integer("Products of up to so many columns.", at_least=2, at_most=5) = 2,
    interaction_only: Flag("Only products of different columns, without powers.") = False,
    bias: Flag("Begin with a column of 1.") = True,
):
    """Add products of columns, in the order of scikit-learn's PolynomialFeatures."""
    names = list(row.cells)
    numbers = [row.number(name) for name in names]
    choose = itertools.combinations if interaction_only else itertools.combinations_with_replacement
    cells = {"1": 1.0} if bias else {}
    for count in range(1, degree + 1):
        for chosen in choose(range(len(names)), count):
            value = 1.0
            for place in chosen:
                value *= numbers[place]
            add_column(cells, " ".join(_factors(names, chosen)), value)
            if len(cells) > MOST_COLUMNS:
                raise SampleError("the products of %d columns are more than %d" % (len(names), MOST_COLUMNS))
    return Row(cells)


def _factors(names, chosen):
    """a^2 b, as scikit-learn names a product."""
    for place, group in itertools.groupby(chosen):
        power = len(list(group))
        yield names[place] if power == 1 else "%s^%d" % (names[place], power)
