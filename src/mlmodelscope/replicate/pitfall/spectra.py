"""How a sound becomes features: frames, windows, bands, logarithms, and what is done to them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall, step
from mlmodelscope.replicate.pitfall.sound_edits import (
    AUDIO,
    added_after,
    added_before,
    found,
    retuned,
    without,
)

_EDGES = {
    "center": ("frames centered", ("reflect", "zero")),
    "cut": ("whole frames only", ("zero",)),
    "kaldi": ("frames placed as Kaldi does without snipping", ("symmetric",)),
    "end": ("frames filled up at the end", ("zero",)),
}
"""Where frames lie, in words, and what is usual beyond the ends."""
_SHAPES = ("hann", "hamming", "povey", "blackman")
_LOW = (0, 20, 50, 60, 64, 80, 125, 133.3333, 300)
_HIGH = (None, 8000, 7600, 4000, 7500, 3800, 6855.4976, 7800, 11025, 16000)
_RANGES = ((0, None), (0, 8000), (20, 4000), (80, 7600), (125, 7500), (20, 7600), (133.3333, 6855.4976))
"""As toolkits have them together: librosa, MLPerf Tiny, ESPnet, VGGish, Kaldi recipes and Sphinx among them."""
_BASES = {
    "natural": "the natural logarithm",
    "10": "the logarithm to base 10",
    "db": "decibels of powers",
    "db_magnitude": "decibels of magnitudes",
    "2": "the logarithm to base 2",
}
_KEPT_FROM_ZERO = ((1e-10, 0), (0, 1e-6), (1.1920928955078125e-07, 0), (1e-5, 0), (0, 2**-24), (0, 0.01), (0, 1))
"""(floor, add): librosa and Whisper, MLPerf Tiny, Kaldi, vocoders, NeMo, VGGish, log(1 + x)."""
_FEATURES = ("spectrum", "mel", "log", "mfcc")
_TURNED = {"TF": "FT", "FT": "TF", "TFC": "FTC", "FTC": "TFC", "CTF": "CFT", "CFT": "CTF"}


@pitfall("preemphasis", "Preemphasis", weight=0.5, is_ranked=True, parts=AUDIO)
def preemphasis(plan: Plan) -> Edits:
    """High tones are made louder before the spectrum is computed, or they are not; often by 0.97."""
    now = found(plan, "preemphasis")
    if found(plan, "frames") is None:
        return
    if now is None:
        yield "with preemphasis, 0.97", added_before(plan, step("preemphasis"), "frames")
        kaldi = step("preemphasis", first="repeat")
        yield "with preemphasis, 0.97, in each frame", added_after(plan, kaldi, "frames", "remove_dc")
        return
    yield "without preemphasis", without(plan, "preemphasis")
    for coefficient in (0.97, 0.95, 0.9):
        if coefficient != now.parameters["coefficient"]:
            for edited in retuned(plan, "preemphasis", coefficient=coefficient):
                yield f"preemphasis by {coefficient}", edited
    for first in ("keep", "repeat", "librosa"):
        if first != now.parameters["first"]:
            for edited in retuned(plan, "preemphasis", first=first):
                yield f"the first sample by the rule `{first}`", edited


@pitfall("frame-edges", "Edges of frames", is_ranked=True, parts=AUDIO)
def frame_edges(plan: Plan) -> Edits:
    """The first frame begins at the first sample or has it in its middle, and something lies beyond the ends."""
    now = found(plan, "frames")
    if now is None:
        return
    edges, padding = (now.parameters[key] for key in ("edges", "padding"))
    for other, (words, usual) in _EDGES.items():
        if other == edges == "cut":  # nothing lies beyond
            continue
        for beyond in usual if other == "cut" else dict.fromkeys((*usual, padding)):
            if (other, beyond) == (edges, padding):
                continue
            told = words if other == "cut" else f"{words}, beyond them `{beyond}`"
            for edited in retuned(plan, "frames", edges=other, padding=beyond):
                yield told, edited
    last = now.parameters["drop_last"]
    for edited in retuned(plan, "frames", drop_last=not last):
        yield "with the last frame" if last else "without the last frame", edited


@pitfall("window-kind", "Window of frames", weight=0.5, is_ranked=True, parts=AUDIO)
def window_kind(plan: Plan) -> Edits:
    """The samples of a frame are weighed by another window, or by one that is symmetric and not periodic."""
    now = found(plan, "window")
    if now is None:
        if found(plan, "spectrum") is not None:
            for shape in _SHAPES[:3]:
                yield f"a {shape} window", added_before(plan, step("window", shape=shape), "spectrum")
        return
    kind = now.parameters["kind"]
    kinds = (kind, "symmetric" if kind == "periodic" else "periodic")
    pairs = [(now.parameters["shape"], kinds[1]), *((shape, each) for each in kinds for shape in _SHAPES)]
    for shape, each in dict.fromkeys([*pairs, ("rectangular", kind)]):
        if (shape, each) != (now.parameters["shape"], kind):
            for edited in retuned(plan, "window", shape=shape, kind=each):
                yield f"a {each} {shape} window", edited


@pitfall("spectrum-power", "Power of the spectrum", parts=AUDIO)
def spectrum_power(plan: Plan) -> Edits:
    """The spectrum has magnitudes where the model was trained with their squares, or the other way round."""
    now = found(plan, "spectrum")
    other = 2 if now is not None and now.parameters["power"] == 1 else 1
    for edited in retuned(plan, "spectrum", power=other):
        yield "squares of magnitudes" if other == 2 else "magnitudes", edited


@pitfall("mel-scale", "Mel scale", is_ranked=True, parts=AUDIO)
def mel_scale(plan: Plan) -> Edits:
    """The bands lie by another formula, are divided by their width or not, or have sides of another shape."""
    now = found(plan, "mel")
    if now is None:
        return
    given = tuple(now.parameters[key] for key in ("scale", "norm", "triangles"))
    every = product(("slaney", "htk"), ("slaney", "none"), ("hertz", "mel"))
    for scale, norm, triangles in sorted(every, key=lambda each: _differing(each, given)):
        if (scale, norm, triangles) != given:
            for edited in retuned(plan, "mel", scale=scale, norm=norm, triangles=triangles):
                divided = "divided by their width" if norm == "slaney" else "not divided"
                yield f"bands by {scale}, {divided}, triangles over {triangles}", edited


def _differing(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(here != there for here, there in zip(one, other, strict=True))


@pitfall("mel-range", "Range of the bands", weight=0.5, is_ranked=True, parts=AUDIO)
def mel_range(plan: Plan) -> Edits:
    """The lowest band begins at another frequency, or the highest one ends at another."""
    now = found(plan, "mel")
    if now is None:
        return
    low, high = now.parameters["low"], now.parameters["high"]
    pairs = [(each, high) for each in _LOW[:3]] + [(low, each) for each in _HIGH[:4]]
    pairs += [*_RANGES, *((each, high) for each in _LOW[3:]), *((low, each) for each in _HIGH[4:])]
    for start, end in dict.fromkeys(pairs):
        if (start, end) != (low, high) and _is_range(plan, start, end):
            for edited in retuned(plan, "mel", low=start, high=end):
                yield f"bands from {start:g} Hz to {'half of the rate' if end is None else f'{end:g} Hz'}", edited


def _is_range(plan: Plan, low: float, high: float | None) -> bool:
    """Whether a sound of the plan's rate can have such bands, as far as the plan knows its rate."""
    known = found(plan, "resample") or found(plan, "assume_rate")
    return high is None or (low < high and (known is None or high <= known.parameters["rate"] / 2))


@pitfall("log-kind", "Logarithm of the features", is_ranked=True, parts=AUDIO)
def log_kind(plan: Plan) -> Edits:
    """The logarithm has another base, or something else keeps it away from that of 0; or there is none."""
    now = found(plan, "log")
    if now is None:
        if found(plan, "mel") is not None:
            for base, words in _BASES.items():
                yield words, added_after(plan, step("log", base=base, floor=1e-10), "mel")
        return
    for base, words in _BASES.items():
        if base != now.parameters["base"]:
            for edited in retuned(plan, "log", base=base):
                yield words, edited
    yield "no logarithm", without(plan, "log")
    yield from _other_floors(plan, now)


def _other_floors(plan: Plan, now: Step) -> Edits:
    for floor, add in _KEPT_FROM_ZERO:
        if (floor, add) != (now.parameters["floor"], now.parameters["add"]):
            for edited in retuned(plan, "log", floor=floor, add=add):
                yield f"values raised to {floor:g}" if floor else f"{add:g} added", edited
    for span in (None, 80 if now.parameters["base"].startswith("db") else 8):
        if span != now.parameters["span"]:
            for edited in retuned(plan, "log", span=span):
                yield "soft values as they are" if span is None else f"at most {span} below the largest value", edited
    other = "one" if now.parameters["reference"] == "max" else "max"
    for edited in retuned(plan, "log", reference=other):
        yield "the largest value becomes 0" if other == "max" else "1 becomes 0", edited


@pitfall("mfcc-parameters", "Cepstral coefficients", is_ranked=True, parts=AUDIO)
def mfcc_parameters(plan: Plan) -> Edits:
    """The cosine transform is scaled otherwise, coefficients are weighed or not, or begin with another one."""
    now = found(plan, "mfcc")
    if now is None:
        return
    given = now.parameters
    for norm in ("ortho", "htk", "none"):
        if norm != given["norm"]:
            for edited in retuned(plan, "mfcc", norm=norm):
                yield f"a cosine transform scaled by `{norm}`", edited
    first = 0 if given["first"] else 1
    for edited in retuned(plan, "mfcc", first=first):
        yield f"coefficients from {first} on", edited
    for lifter, start in ((22, 0), (22, 1), (0, 0)):
        if (lifter, start) != (given["lifter"], given["lifter_first"]) and (lifter or given["lifter"]):
            for edited in retuned(plan, "mfcc", lifter=lifter, lifter_first=start):
                yield f"weighed by a lifter of {lifter}, from {start}" if lifter else "not weighed by a lifter", edited
    for edited in retuned(plan, "mfcc", dct=5 - given["dct"]):
        yield f"a cosine transform of type {5 - given['dct']}", edited


@pitfall("feature-normalization", "Normalization of features", is_ranked=True, parts=AUDIO)
def feature_normalization(plan: Plan) -> Edits:
    """Features are normalized for each sound, by given numbers, or not at all; over time, or over everything."""
    now = found(plan, "normalize_features")
    if now is None:
        yield from _not_normalized(plan)
        return
    yield "features as they are", without(plan, "normalize_features")
    given = (now.parameters["over"], now.parameters["deviation"])
    for over, deviation in _normalizations(given):
        for edited in retuned(plan, "normalize_features", over=over, deviation=deviation, mean=None, std=None):
            yield _normalized(over, deviation), edited
    if now.parameters["mean"] is not None and now.parameters["std"] is not None:
        for key, words in (("std", "not divided by the deviation"), ("mean", "the mean not subtracted")):
            for edited in retuned(plan, "normalize_features", **{key: None}):
                yield words, edited


def _not_normalized(plan: Plan) -> Edits:
    """Edits of a plan without `normalize_features`; Whisper's features have two other steps for it."""
    if not any(found(plan, name) is not None for name in _FEATURES):
        return
    logarithm = found(plan, "log")
    if found(plan, "mean") is not None and found(plan, "rescale") is not None:
        yield "features as they are", without(without(plan, "mean"), "rescale")
        return
    for over, deviation in product(("time", "all", "features"), ("population", "none", "sample")):
        new = step("normalize_features", over=over, deviation=deviation)
        yield _normalized(over, deviation), added_after(plan, new, *_FEATURES)
    if logarithm is not None and logarithm.parameters["base"] == "10":
        rescaled = added_after(plan, step("rescale", divisor=4), *_FEATURES)
        yield "(x + 4) / 4, as Whisper does", added_after(rescaled, step("mean", values=-4), *_FEATURES)


def _normalizations(given: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Those that differ, first those that differ in one."""
    every = product(("time", "all", "features"), ("population", "none", "sample"))
    yield from sorted((each for each in every if each != given), key=lambda each: _differing(each, given))


def _normalized(over: str, deviation: str) -> str:
    divided = {"none": "not divided", "population": "divided by the deviation", "sample": "by that of a sample"}
    return f"normalized over {over}, {divided[deviation]}"


@pitfall("feature-layout", "Time and features", weight=0.5, parts=AUDIO)
def feature_layout(plan: Plan) -> Edits:
    """The model gets features x time where it was trained with time x features, or the other way round."""
    now = found(plan, "feature_layout")
    if now is None:
        if found(plan, "spectrum") is not None:
            last = (*_FEATURES, "normalize_features", "mean", "rescale", "fix_length")
            yield "features x time", added_after(plan, step("feature_layout", order="FT"), *last)
    elif now.parameters["order"] == "FT":
        yield "time x features", without(plan, "feature_layout")
    else:
        for edited in retuned(plan, "feature_layout", order=_TURNED[now.parameters["order"]]):
            words = "features x time" if now.parameters["order"].replace("C", "") == "TF" else "time x features"
            yield words, edited
