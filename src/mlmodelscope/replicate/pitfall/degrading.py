"""How the picture that an enhancer gets was made out of the true one."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, pitfall, steps_of, with_steps
from mlmodelscope_worker.pipeline import library

_METHODS = ("bicubic", "bilinear", "area", "lanczos", "lanczos4")


@pitfall("degrading", "How the input was shrunk")
def degrading(plan: Plan) -> Edits:
    """Bicubic is not bicubic: libraries differ in the kernel, in whether they average, and at the borders."""
    steps = steps_of(plan)
    places = [at for at, each in enumerate(steps) if each.name == "scale"]
    for chosen in _choices(places):
        told = _told(steps, chosen, len(places))
        for words, parameters in _ways():
            new = list(steps)
            for at in chosen:
                made = changed(steps[at], **parameters)
                if made is None:
                    break
                new[at] = made
            else:
                if new != list(steps):
                    yield f"{told}{words}", with_steps(plan, new)


def _choices(places: Sequence[int]) -> list[Sequence[int]]:
    """All scaling, and the first or the last of it alone."""
    return [places, places[:1], places[-1:]] if len(places) > 1 else [places] if places else []


def _told(steps: Sequence[Step], chosen: Sequence[int], count: int) -> str:
    if count < 2:
        return ""
    if len(chosen) > 1:
        return "shrunk and enlarged, "
    return "shrunk, " if float(steps[chosen[0]].parameters["factor"]) < 1 else "enlarged, "


def _ways() -> list[tuple[str, dict[str, object]]]:
    """The most common first."""
    found = []
    for method in _METHODS:
        for name in ("matlab", "pillow", "opencv", "torchvision", "tensorflow"):
            if method not in library.SCALE_METHODS[name]:
                continue
            choices = library.antialias_choices(name, method)
            for antialias in choices:
                averaged = "" if len(choices) < 2 else " with averaging" if antialias else " without averaging"
                words = f"{method} by {name}{averaged}"
                found.append((words, {"library": name, "method": method, "antialias": antialias}))
    return found
