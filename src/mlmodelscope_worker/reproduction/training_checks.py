"""Of training: gradients against finite differences, and steps of the optimizer against the original's."""

from collections import OrderedDict

import numpy as np

from .arrays import off, source_of
from .verdict import Failed, Undecided

_STEPS = 3
_SANE_STEPS = 20
_REACHES = (1e-1, 2e-2, 4e-3, 8e-4, 1.6e-4)
"""How far along a direction, of the size of the parameter."""
_EXPLODING = 1e4
"""A gradient that is so many times as large as its parameter."""
_NOISE = 4
_BATCHES = 3


def gradients(side, against, tolerance):
    adapter, model = side.adapter, side.build()
    before = adapter.parameters(model)
    batches = [(side.inputs("gradients", at), side.targets("gradients", at)) for at in range(_BATCHES)]
    found = [adapter.gradients(model, inputs, targets) for inputs, targets in batches]
    trained = [name for name in before if name not in side.given["frozen"]]
    for name in trained:
        _refuse_dead(name, before[name], [each.get(name) for each in found])
    worst, unsure = 0.0, []
    for name in trained:
        apart = _checked(side, model, before[name], name, [each[name] for each in found], batches, tolerance)
        if apart is None:
            unsure.append(name)
        else:
            worst = max(worst, apart)
    if len(unsure) == len(trained):
        raise Undecided("all gradients are too small to tell them from rounding")
    said = "%d parameters, at most %.2g from finite differences" % (len(trained) - len(unsure), worst)
    return said + ("; too small to tell: %s" % ", ".join(unsure[:5]) if unsure else ""), {"off": worst}


def _refuse_dead(name, value, found):
    if any(each is None for each in found):
        raise Failed("`%s` is dead: it gets no gradient, so it is never trained" % name)
    if not any(np.any(each) for each in found):
        raise Failed("`%s` is dead: its gradient is zero everywhere, so it is never trained" % name)
    for gradient in found:
        if gradient.shape != value.shape:
            seen = (name, list(gradient.shape), list(value.shape))
            raise Failed("the gradient of `%s` has the shape %s, the parameter %s" % seen)
        if not np.isfinite(gradient).all():
            raise Failed("the gradient of `%s` is exploding: it has numbers that are NaN or infinite" % name)
        size = float(np.linalg.norm(gradient)) / max(1.0, float(np.linalg.norm(value)))
        if size > _EXPLODING:
            raise Failed("the gradient of `%s` is exploding: %.2g times as large as the parameter" % (name, size))


def _checked(side, model, value, name, gradients, batches, tolerance):
    """How far the gradient is from finite differences; None where it is too small to tell.

    A kink of the loss within reach looks like a wrong gradient on one batch; a wrong gradient is one on most of them.
    """
    told = []
    for gradient, (inputs, targets) in zip(gradients, batches):
        told.append(_on_batch(side, model, value, name, gradient, inputs, targets, tolerance))
        if told[0] is None or told[0][0] <= tolerance:
            return told[0] and told[0][0]
    bad = [each for each in told if each is not None and each[0] > tolerance]
    if 2 * len(bad) <= _BATCHES:
        return None
    words = (
        "the gradient of `%s` is not the slope of the loss: %.5g along a direction where finite differences "
        "give %.5g (tolerance %.2g)"
    )
    raise Failed(words % (name, bad[0][1], bad[0][2], tolerance), {"off": bad[0][0]})


def _on_batch(side, model, value, name, gradient, inputs, targets, tolerance):
    """(how far apart, the gradient, the slope) along the gradient or a direction by chance, whichever is worse."""
    source, worst = source_of(side.seed, "direction", name), None
    for direction in (np.asarray(gradient, np.float64), source.standard_normal(value.shape)):
        size = np.linalg.norm(direction)
        if not size:
            continue
        direction = direction / size
        expected = float(np.sum(direction * gradient))
        slopes = list(_slopes(side, model, value, name, direction, inputs, targets))
        apart, seen = _judged(slopes, expected, tolerance)
        if apart is not None and (worst is None or apart > worst[0]):
            worst = apart, expected, seen
    return worst


def _slopes(side, model, value, name, direction, inputs, targets):
    """[(slope, what rounding may have added)] for ever smaller reaches."""
    size = max(float(np.linalg.norm(value)), 1e-2)
    epsilon = float(np.finfo(value.dtype).eps) if value.dtype.kind == "f" else 1e-7
    for reach in _REACHES:
        losses = []
        for sign in (1, -1):
            moved = (value + sign * reach * size * direction).astype(value.dtype)
            changed = side.adapter.with_parameters(model, {name: moved})
            losses.append(side.adapter.loss_of(changed, inputs, targets))
        side.adapter.with_parameters(model, {name: value})
        yield (
            (losses[0] - losses[1]) / (2 * reach * size),
            _NOISE * epsilon * max(abs(losses[0]), 1e-3) / (reach * size),
        )


def _judged(slopes, expected, tolerance):
    """(how far apart, the slope). The loss bends and has kinks, and rounding covers what is too close: a slope counts
    against the gradient only where two reaches agree about it."""
    best = None
    for seen, noise in slopes:
        scale = max(abs(seen), abs(expected))
        if np.isfinite(seen) and noise <= tolerance * scale and abs(seen - expected) <= tolerance * scale:
            apart = abs(seen - expected) / scale
            best = (apart, seen) if best is None or apart < best[0] else best
    if best is not None:
        return best
    for (one, _), (other, noise) in zip(slopes, slopes[1:]):
        scale = max(abs(other), abs(expected))
        if np.isfinite(one) and np.isfinite(other) and abs(one - other) + noise <= tolerance * scale / 2:
            return abs(other - expected) / scale, other
    return None, None


def _trained(side, weights, steps):
    """What some steps on one batch do: losses, the change of each parameter, the answers afterwards."""
    adapter, model = side.adapter, side.fixed_model(weights)
    inputs, targets = side.inputs("step"), side.targets("step")
    before = adapter.parameters(model)
    untouched = adapter.forward(model, inputs)
    state, losses = adapter.start(model), []
    for _ in range(steps):
        model, state, loss = adapter.train_step(model, state, inputs, targets)
        losses.append(loss)
    return before, adapter.parameters(model), untouched, adapter.forward(model, inputs), losses


def record_step(side, weights):
    before, after, untouched, answers, losses = _trained(side, weights, _STEPS)
    found = OrderedDict({"losses": np.array(losses)})
    for name in before:
        found["before/" + name], found["after/" + name] = before[name], after[name]
    for at, (one, other) in enumerate(zip(untouched, answers)):
        found["untouched/%d" % at], found["answers/%d" % at] = one, other
    return found


def step(side, against, tolerance, weights=None):
    side.code.get("train_step")
    if against is None:
        return _sane(side)
    before, after, untouched, answers, losses = _trained(side, weights, _STEPS)
    for at, (mine, theirs) in enumerate(zip(losses, against["losses"])):
        if off(np.array(mine), theirs) > tolerance:
            raise Failed("the loss of step %d is %.7g, the original's %.7g" % (at + 1, mine, theirs))
    worst = 0.0
    for name in before:
        if "after/" + name not in against or against["after/" + name].shape != after[name].shape:
            continue  # another name or layout: the answers show it
        worst = max(
            worst,
            _moved_alike(
                "`%s`" % name, before[name], after[name], against["before/" + name], against["after/" + name], tolerance
            ),
        )
    for at, (one, other) in enumerate(zip(untouched, answers)):
        worst = max(
            worst,
            _moved_alike(
                "output %d" % at, one, other, against["untouched/%d" % at], against["answers/%d" % at], tolerance
            ),
        )
    return "%d steps move parameters and answers as the original's do, at most %.2g apart" % (_STEPS, worst), {
        "off": worst
    }


def _moved_alike(what, before, after, their_before, their_after, tolerance):
    """The changes are compared, not the values: what a step does is small beside them."""
    mine, theirs = after.astype(np.float64) - before, their_after.astype(np.float64) - their_before
    scale = max(float(np.abs(mine).max()), float(np.abs(theirs).max()))
    rounding = 64 * float(np.finfo(np.float32).eps) * float(np.abs(before).max()) if before.size else 0.0
    apart = float(np.abs(mine - theirs).max())
    if not np.isfinite(apart):
        raise Failed("%d steps make %s NaN or infinite" % (_STEPS, what))
    if apart <= rounding:
        return 0.0
    if apart > tolerance * scale + rounding:
        size, there = float(np.linalg.norm(mine)), float(np.linalg.norm(theirs))
        raise Failed(
            "%d steps change %s otherwise than the original's: by %.4g in all, the original by %.4g, and up to %.2g of "
            "the largest change apart" % (_STEPS, what, size, there, apart / scale),
            {"off": apart / scale},
        )
    return apart / scale


def _sane(side):
    """Without an original: every parameter moves, and one batch can be learned."""
    before, after, _, _, losses = _trained(side, None, _SANE_STEPS)
    still = [name for name in before if name not in side.given["frozen"] and np.array_equal(before[name], after[name])]
    if still:
        raise Failed("%d steps leave `%s` as it was" % (_SANE_STEPS, still[0]))
    if not np.isfinite(losses).all():
        raise Failed("the loss is NaN or infinite after %d steps" % (1 + int(np.argmin(np.isfinite(losses)))))
    if losses[-1] >= losses[0]:
        raise Failed(
            "after %d steps on one batch the loss is %.4g, before it was %.4g" % (_SANE_STEPS, losses[-1], losses[0])
        )
    raise Undecided(
        "the loss of one batch falls from %.4g to %.4g in %d steps; no original to compare a step with"
        % (losses[0], losses[-1], _SANE_STEPS)
    )
