"""Of loss and metric: against the original's on tensors by chance and at the edges, and on cases that are known."""

import numpy as np

from .adapter import alone
from .arrays import EDGE, array_of, compare, draw, source_of, spread_out
from .side import finite
from .verdict import Failed, Skipped, Undecided

_BY_CHANCE = 6
_SIZES = (1.0, 3.0, 10.0)


def _loss_cases(side):
    """[(name, outputs, targets)]."""
    found = []
    for at in range(_BY_CHANCE):
        outputs = [each * _SIZES[at % 3] for each in side.outputs("loss", at)]
        found.append(("random %d" % at, [each.astype(np.float32) for each in outputs], side.targets("loss", at)))
    outputs, targets = side.outputs("loss", 0), side.targets("loss", 0)
    for name, values in (
        ("all zero", [np.zeros_like(each) for each in outputs]),
        ("tiny", [each * np.float32(1e-8) for each in outputs]),
        ("large", [each * np.float32(EDGE) for each in outputs]),
        ("large and below zero", [-np.abs(each) * np.float32(EDGE) for each in outputs]),
    ):
        found.append((name, values, targets))
    found.append(("one row", [each[:1] for each in outputs], targets[:1]))
    same = dict(side.given["targets"])
    if same.get("values") == "integers" and outputs[0].ndim == 2 and outputs[0].shape[1] >= same["below"]:
        sure = np.full(outputs[0].shape, -20.0, np.float32)
        sure[np.arange(side.rows), targets.reshape(side.rows, -1)[:, 0]] = 20.0
        found += [("sure and true", [sure], targets), ("sure and false", [-sure], targets)]
    elif targets.shape == outputs[0].shape:
        found.append(("exact", [targets.astype(np.float32)], targets))
    return found


def record_loss(side, weights):
    side.code.get("loss")
    return {name: side.adapter.loss(outputs, targets) for name, outputs, targets in _loss_cases(side)}


def loss(side, against, tolerance):
    known = 0
    for at, case in enumerate(side.given["cases"]["loss"]):
        found = side.adapter.loss([_array(case["predictions"])], _array(case["targets"]))
        compare("the loss of case %d of the manifest" % at, found.mean(), np.asarray(case["expected"]), tolerance)
        known += 1
    side.code.get("loss")
    worst, left_out = 0.0, 0
    cases = _loss_cases(side)
    for name, outputs, targets in cases:
        found = side.adapter.loss(outputs, targets)
        if against is None:
            if "large" not in name:
                finite("the loss (%s)" % name, [found])
        elif not np.isfinite(against[name]).all():
            left_out += 1  # the original has no answer there, and whatever this one has is as good
        else:
            worst = max(worst, compare("the loss (%s)" % name, found, against[name], tolerance))
    return _told(against, known, len(cases) - left_out, worst, "loss")


def _metric_cases(side):
    targets = [side.targets("metric", at) for at in range(_BY_CHANCE)]
    described = side.given["predictions"]
    found = []
    for at in range(_BY_CHANCE):
        if described is not None:
            drawn = draw(source_of(side.seed, "predictions", at), described, side.rows)
        else:
            drawn = alone(side.outputs("metric", at)[:1])
        found.append(("random %d" % at, drawn, targets[at]))
    first = found[0][1]
    found.append(("all the same", np.zeros_like(first), targets[0]))
    found.append(("one row", first[:1], targets[0][:1]))
    if first.shape == targets[0].shape and first.dtype.kind == targets[0].dtype.kind:
        found.append(("all right", targets[0].astype(first.dtype), targets[0]))
    elif first.ndim == 2 and targets[0].ndim == 1 and targets[0].dtype.kind == "i":
        sure = np.zeros_like(first)
        rows = np.arange(side.rows)
        sure[rows, np.minimum(targets[0], first.shape[1] - 1)] = 1
        found += [("all right", sure, targets[0]), ("all wrong", 1 - sure, targets[0])]
    return found


def _measured(side, predictions, targets):
    value = side.code.call("metric", side.adapter.tensor(predictions), side.adapter.tensor(targets))
    found = dict(spread_out(value, "metric"))
    if not found or any(each.size != 1 for each in found.values()):
        raise Failed("`metric` returns %s, where a number or a mapping of numbers is due" % type(value).__name__)
    return found


def record_metric(side, weights):
    return {
        "%s/%s" % (name, key): value
        for name, predictions, targets in _metric_cases(side)
        for key, value in _measured(side, predictions, targets).items()
    }


def metric(side, against, tolerance):
    side.code.get("metric")
    known = 0
    for at, case in enumerate(side.given["cases"]["metric"]):
        found = _measured(side, _array(case["predictions"]), _array(case["targets"]))
        first = found.get("metric", next(iter(found.values())))
        compare(
            "the metric of case %d of the manifest" % at, first.reshape(()), np.asarray(case["expected"]), tolerance
        )
        known += 1
    if against is None and not known:
        raise Undecided("neither `cases` nor an original says what the metric must be")
    worst, cases = 0.0, _metric_cases(side) if against is not None else []
    for name, predictions, targets in cases:
        for key, value in _measured(side, predictions, targets).items():
            there = "%s/%s" % (name, key)
            if there not in against:
                raise Failed("the original's metric has no `%s`" % key[7:])
            worst = max(worst, compare("the metric (%s)" % name, value, against[there], tolerance))
    return _told(against, known, len(cases), worst, "metric")


def _told(against, known, cases, worst, what):
    said = ["%d known cases" % known] if known else []
    if against is not None:
        said.append("%d tensors by chance and at the edges, at most %.2g apart" % (cases, worst))
    if not said:
        raise Undecided("finite, and nothing says what the %s must be: neither `cases` nor an original" % what)
    return ", ".join(said), {"off": worst}


def _array(value):
    found = array_of(value)
    if found is None:
        raise Skipped("a case of the manifest holds no numbers")
    return found.astype(np.float32) if found.dtype.kind == "f" else found
