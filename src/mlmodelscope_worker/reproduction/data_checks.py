"""Of the data pipeline, step by step, and of pipeline and model together, sample by sample."""

import time
from collections import OrderedDict

import numpy as np

from .arrays import array_of, off, source_of, spread_out
from .verdict import Failed, Skipped, Undecided

_TIME = "time"


def _steps(side):
    """[(name, function)]."""
    found = side.code.get("data")
    pairs = found.items() if isinstance(found, dict) else found
    steps = []
    for each in pairs if not callable(found) else [found]:
        pair = each if isinstance(each, tuple) else (getattr(each, "__name__", "step"), each)
        if len(pair) != 2 or not callable(pair[1]):
            raise Failed("`data` must be a list of functions, or of (name, function)")
        steps.append((str(pair[0]), pair[1]))
    if not steps:
        raise Skipped("`data` has no steps")
    return steps


def _run(side, sample, number):
    """[(step, value)]: each step draws from a source of its own, so that one more number drawn moves no other step."""
    value, found = sample.copy() if isinstance(sample, np.ndarray) else sample, []
    for place, (name, function) in enumerate(_steps(side)):
        source = source_of(side.seed, "step", number, place)
        value = side.code.guarded("the step `%s`" % name, function, value, source)
        found.append((name, value))
    return found


def record_data(side, weights):
    found = OrderedDict()
    started = time.time()
    for number, (_, sample) in enumerate(side.samples()):
        for place, (name, value) in enumerate(_run(side, sample, number)):
            for part, array in spread_out(value):
                found["%d/%d/%s/%s" % (number, place, name, part)] = array
    found[_TIME] = np.array((time.time() - started) / max(1, len(side.samples())))
    return found


def data(side, against, tolerance):
    samples, steps = side.samples(), _steps(side)
    own, again = record_data(side, None), record_data(side, None)
    _refuse_moving(own, again)
    numbers = {"time_s": float(own.pop(_TIME))}
    if against is None:
        raise Undecided("%d steps run, the same twice; no original to compare them with" % len(steps))
    numbers["original_time_s"] = float(against.pop(_TIME))
    worst = 0.0
    places = sorted({int(key.split("/")[1]) for key in against})
    if len(places) != len(steps):
        names = OrderedDict.fromkeys(key.split("/")[2] for key in against)
        raise Failed(
            "%d steps (%s), the original has %d (%s)"
            % (len(steps), ", ".join(name for name, _ in steps), len(places), ", ".join(names))
        )
    for place, (name, _) in enumerate(steps):
        for number, (sample, _) in enumerate(samples):
            mine, theirs = _values(own, number, place), _values(against, number, place)
            worst = max(worst, _compare_step(name, sample, mine, theirs, tolerance))
    said = "%d steps of %d samples, at most %.2g apart" % (len(steps), len(samples), worst)
    spent = (1000 * numbers["time_s"], 1000 * numbers["original_time_s"])
    return said + "; %.2g ms a sample, the original %.2g ms" % spent, dict(numbers, off=worst)


def _refuse_moving(own, again):
    for key in own:
        if key != _TIME and (key not in again or not np.array_equal(own[key], again[key])):
            raise Failed(
                "the step `%s` gives something else when it is called again: it draws from a source other "
                "than the one that it is given, or changes what it is given" % key.split("/")[2]
            )


def _values(found, number, place):
    start = "%d/%d/" % (number, place)
    return {key.split("/", 3)[3]: value for key, value in found.items() if key.startswith(start)}


def _compare_step(name, sample, mine, theirs, tolerance):
    if not mine or not theirs:
        return 0.0  # neither holds numbers: the next step shows what it was
    if set(mine) != set(theirs):
        raise Failed(
            "the step `%s` gives the parts %s, the original's %s"
            % (name, ", ".join(sorted(mine)) or "-", ", ".join(sorted(theirs)) or "-")
        )
    worst = 0.0
    for part, value in mine.items():
        other = theirs[part]
        if value.shape != other.shape:
            raise Failed(
                "the step `%s` gives the shape %s for %s, the original's %s"
                % (name, list(value.shape), sample, list(other.shape))
            )
        found = off(value, other)
        if found > tolerance:
            raise Failed(
                "the step `%s` is the first that differs: for %s by up to %.3g of the largest value (tolerance %.2g)"
                % (name, sample, found, tolerance),
                {"off": found},
            )
        worst = max(worst, found)
    return worst


def _answers(side, weights):
    """The model's answer to each sample that went through the pipeline."""
    if len(side.given["inputs"]) != 1:
        raise Skipped("the model takes several inputs, and a pipeline gives one tensor")
    model, found = side.fixed_model(weights), OrderedDict()
    for number, (_, sample) in enumerate(side.samples()):
        last = array_of(_run(side, sample, number)[-1][1])
        if last is None:
            raise Skipped("the last step gives no tensor by itself, which `forward` could be given")
        for at, output in enumerate(side.adapter.forward(model, [last[None]])):
            found["%d/%d" % (number, at)] = output[0]
    return found


def record_samples(side, weights):
    return _answers(side, weights)


def samples(side, against, tolerance, weights=None):
    """Each sample for itself: a metric can be the same while all answers lean to one side."""
    if against is None:
        raise Skipped("there is no original to compare single samples with")
    names = [name for name, _ in side.samples()]
    apart, leaning = [], []
    found = _answers(side, weights)
    for key, value in found.items():
        other = against[key]
        if value.shape != other.shape:
            raise Failed(
                "for %s the answer has the shape %s, the original's %s"
                % (names[int(key.split("/")[0])], list(value.shape), list(other.shape))
            )
        apart.append((off(value, other), names[int(key.split("/")[0])]))
        leaning.append(float(np.mean(np.asarray(value, np.float64) - np.asarray(other, np.float64))))
    bad = [each for each in apart if each[0] > tolerance]
    if bad:
        worst = max(bad)
        trend = ""
        if len(leaning) > 2 and (min(leaning) > 0 or max(leaning) < 0):
            trend = "; all answers lean to one side, by %.3g on average" % (sum(leaning) / len(leaning))
        raise Failed(
            "%d of %d answers differ, most of all that to %s: by %.3g of its largest value%s"
            % (len(bad), len(apart), worst[1], worst[0], trend),
            {"off": worst[0]},
        )
    return "%d samples through pipeline and model, at most %.2g apart" % (len(names), max(apart)[0]), {}
