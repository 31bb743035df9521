"""Numbers of a table, brought to a common scale by what was fitted to the training data."""

from ..parameters import Choice, File, Flag, Numbers, ParameterError
from .column_values import PerColumn, checked, of_file, once
from .columns import ROWS
from .row import Row
from .step import step

_FIELDS = {"standard": ("mean", "std"), "min_max": ("low", "high"), "robust": ("center", "scale")}
_NUMBER, _DIVISOR = PerColumn(""), PerColumn("", nonzero=True)


def _settle(parameters):
    method = parameters["method"]
    first, second = _FIELDS[method]
    given = [name for fields in _FIELDS.values() for name in fields if parameters[name] is not None]
    for name in given:
        if name not in (first, second):
            raise ParameterError("`method: %s` takes no `%s`" % (method, name), parameter=name)
    if (parameters["file"] is not None) == bool(given):
        raise ParameterError("either `file`, or `%s` and `%s` are needed" % (first, second), parameter="file")
    if given and method == "min_max":
        if len(given) < 2:
            raise ParameterError("`low` and `high` need each other", parameter=given[0])
        scaled = _scaled(parameters["low"], parameters["high"], method, parameters["range"])
        if not scaled:
            raise ParameterError("`low` and `high` are of other columns", parameter="low")
    if parameters["range"][0] >= parameters["range"][1]:
        raise ParameterError("a range goes from a lower to a higher number", parameter="range")
    if method != "min_max" and parameters["clip"]:
        raise ParameterError("only `min_max` has a range to clip to", parameter="clip")
    return dict(parameters, range=list(parameters["range"]))


@step(takes=ROWS, settle=_settle)
def scale_columns(
    row,
    *,
    method: Choice(
        "`standard`: (x - mean) / std; `min_max`: low to high becomes `range`; `robust`: (x - center) / scale.",
        *sorted(_FIELDS),
    ) = "standard",
    mean: PerColumn("For `standard`: what is subtracted, for each column or one for all.") = None,
    std: PerColumn("For `standard`: what is divided by then.", nonzero=True) = None,
    low: PerColumn("For `min_max`: the smallest number of each column in the training data.") = None,
    high: PerColumn("For `min_max`: the largest.") = None,
    center: PerColumn("For `robust`: what is subtracted, such as the median.") = None,
    scale: PerColumn("For `robust`: what is divided by then, such as the distance of the quartiles.", nonzero=True) = (
        None
    ),
    range: Numbers("For `min_max`: what low and high become.", least=2, most=2) = (0.0, 1.0),
    clip: Flag("For `min_max`: numbers beyond low and high become the ends of the range.") = False,
    file: File("Which of the manifest's `files` has these numbers for each column.") = None,
):
    """Bring columns to a common scale, as scikit-learn's StandardScaler, MinMaxScaler and RobustScaler do.

    What is missing stays so.
    """
    if file is not None:
        known = _of_file(file, method, range)
    else:
        first, second = {"standard": (mean, std), "min_max": (low, high), "robust": (center, scale)}[method]
        known = _scaled_once(first, second, method, range)
    cells = dict(row.cells)
    for name in cells if None in known else known:
        shift, divisor, factor, offset = known[None if None in known else name]
        value = row.known(name)
        if value is None:
            continue
        value = (value - shift) / divisor
        if factor is not None:
            value = value * factor + offset
            if clip and value == value:
                value = min(max(value, range[0]), range[1])
        cells[name] = value
    return Row(cells)


def _scaled(first, second, method, ends):
    """{column: (what is subtracted, divided by, multiplied, added)}; the name None stands for all of them."""
    names = [set(each) for each in (first, second) if isinstance(each, dict)]
    if not names:
        chosen = [None]
    elif method == "min_max":
        chosen = [
            name for name in (first if isinstance(first, dict) else second) if all(name in each for each in names)
        ]
    else:
        chosen = list(dict.fromkeys(name for each in (first, second) if isinstance(each, dict) for name in each))
    return {name: _numbers(name, _of(first, name, 0.0), _of(second, name, 1.0), method, ends) for name in chosen}


def _numbers(name, first, second, method, ends):
    if method != "min_max":
        return first, second, None, None
    if first > second:
        where = " of column `%s`" % name if name else ""
        raise ParameterError("low%s is above high" % where, parameter="low")
    # A column that never changes is moved, not stretched.
    return first, (second - first) or 1.0, ends[1] - ends[0], ends[0]


def _of(values, name, default):
    if isinstance(values, dict):
        return values.get(name, default)
    return default if values is None else values


_scaled_once = once(_scaled)


@once
def _of_file(path, method, ends):
    from ..predictor import ModelError

    fields = _FIELDS[method]
    found = of_file(path, fields)
    both = []
    for name, kind in zip(fields, (_NUMBER, _NUMBER if method == "min_max" else _DIVISOR)):
        given = {column: each[name] for column, each in found.items() if isinstance(each, dict) and name in each}
        if len(given) != len(found):
            lacking = sorted(set(found) - set(given))[0]
            raise ModelError("cannot use the values of columns: column `%s` has no `%s`" % (lacking, name))
        both.append(checked(kind, given, path))
    try:
        return _scaled(both[0], both[1], method, ends)
    except ParameterError as error:
        raise ModelError("cannot use the values of columns: %s" % error.message)
