"""How a sound is read before it is cut into frames: its rate, channels, level and length."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall, step
from mlmodelscope.replicate.pitfall.sound_edits import (
    AUDIO,
    added_after,
    added_before,
    exchanged,
    found,
    retuned,
    without,
)
from mlmodelscope_worker.pipeline.library import RESAMPLERS

RATES = (16000, 8000, 22050, 44100, 48000)
"""Samples a second, the most common of models first."""
_READ = ("decode_audio", "mono", "resample", "assume_rate")
_OF_OTHERS = ("soxr_hq", "soxr_vhq", "soxr_mq", "soxr_lq", "polyphase", "fft")
"""Kernels of librosa that soxr and SciPy have themselves."""
_LEVELS = {
    "peak": "divided by the largest absolute value",
    "maximum": "divided by the largest value",
    "variance": "brought to mean 0 and variance 1",
    "rms": "divided by the root mean square",
}
_SECONDS = (1, 30, 10, 5)


@pitfall("sample-rate", "Sample rate", is_ranked=True, parts=AUDIO)
def sample_rate(plan: Plan) -> Edits:
    """The sound has another rate than the model was trained with: nobody resampled, or took one rate for another."""
    now, assumed = found(plan, "resample"), found(plan, "assume_rate")
    if assumed is not None:
        yield "the rate that the file has", without(plan, "assume_rate")
    if now is None:
        yield from _never_resampled(plan, assumed)
        return
    rate = now.parameters["rate"]
    taken = step("assume_rate", rate=rate)
    if assumed is None:
        yield f"not resampled, and taken for {rate} Hz", exchanged(plan, "resample", taken)
    yield "not resampled", without(plan, "resample")
    for other in RATES:
        if other != rate:
            for edited in retuned(plan, "resample", rate=other):
                yield f"resampled to {other} Hz", edited
    for other in RATES:
        if assumed is None and other != rate:
            words = f"the file taken for {other} Hz before it is resampled"
            yield words, added_before(plan, step("assume_rate", rate=other), "resample")


def _never_resampled(plan: Plan, assumed: Step | None) -> Edits:
    if assumed is not None:
        now = assumed.parameters["rate"]
        yield f"resampled to {now} Hz", exchanged(plan, "assume_rate", step("resample", rate=now))
        for rate in RATES:
            if rate != now:
                yield f"taken for {rate} Hz", exchanged(plan, "assume_rate", step("assume_rate", rate=rate))
        return
    for name, words in (("resample", "resampled to"), ("assume_rate", "taken for")):
        for rate in RATES:
            yield f"{words} {rate} Hz", added_after(plan, step(name, rate=rate), *_READ)


@pitfall("resampler", "Filter of the resampler", weight=0.3, is_ranked=True, parts=AUDIO)
def resampler(plan: Plan) -> Edits:
    """Another library or filter resamples; one without a filter lets high tones fold down."""
    now = found(plan, "resample")
    if now is None:
        return
    given = (now.parameters["library"], now.parameters["kernel"])
    for library, kernel in _kernels(given[0]):
        if (library, kernel) != given:
            for edited in retuned(plan, "resample", library=library, kernel=kernel):
                yield f"resampled by {library}, {kernel}", edited


def _kernels(own: str) -> Iterator[tuple[str, str]]:
    """What each library does by itself, then their second filters, and so on."""
    every = [(place, library, kernel) for library, some in RESAMPLERS.items() for place, kernel in enumerate(some)]
    for _, library, kernel in sorted(every, key=lambda each: each[0]):
        if library == own or library != "librosa" or kernel not in _OF_OTHERS:
            yield library, kernel


@pitfall("channel-mix", "Channels made one", weight=0.5, is_ranked=True, parts=AUDIO)
def channel_mix(plan: Plan) -> Edits:
    """A sound of two channels becomes one by its mean, its sum, or one of the two."""
    now = found(plan, "mono")
    words = {"mean": "the mean of the channels", "left": "the left channel", "right": "the right channel"}
    for channel, told in {**words, "sum": "the sum of the channels"}.items():
        if now is not None and channel != now.parameters["channel"]:
            for edited in retuned(plan, "mono", channel=channel):
                yield told, edited


@pitfall("amplitude-range", "Range of the samples", is_ranked=True, parts=AUDIO)
def amplitude_range(plan: Plan) -> Edits:
    """Samples lie between -1 and 1, or between -32768 and 32767; or each sound is brought to one level, or not."""
    now, leveled = found(plan, "decode_audio"), found(plan, "normalize_sound")
    words = {"unit": "samples from -1 to 1", "int16": "samples from -32768 to 32767"}
    for scale, told in words.items():
        if now is not None and scale != now.parameters["scale"]:
            for edited in retuned(plan, "decode_audio", scale=scale):
                yield told, edited
    if leveled is not None:
        yield "the level that the file has", without(plan, "normalize_sound")
    for by, told in _LEVELS.items():
        if leveled is None:
            epsilon = 1e-7 if by == "variance" else 0
            yield told, added_after(plan, step("normalize_sound", by=by, epsilon=epsilon), *_READ)
        elif by != leveled.parameters["by"]:
            for edited in retuned(plan, "normalize_sound", by=by):
                yield told, edited


@pitfall("sound-length", "Length of the sound", weight=0.5, is_ranked=True, parts=AUDIO)
def sound_length(plan: Plan) -> Edits:
    """A sound is cut or filled up on another side, to another length or not at all, or loses its silence."""
    now = found(plan, "fix_length")
    if now is not None:
        yield from _other_sides(plan, now)
        yield from _other_lengths(plan, now)
        yield "as long as the file is", without(plan, "fix_length")
    else:
        for seconds in _SECONDS:
            new = step("fix_length", seconds=seconds)
            yield f"cut or filled up to {seconds} s", added_after(plan, new, *_READ, "normalize_sound", "trim_silence")
    if found(plan, "trim_silence") is not None:
        yield "silence at the ends kept", without(plan, "trim_silence")
    else:
        yield "silence at the ends cut off", added_after(plan, step("trim_silence"), *_READ)


def _other_sides(plan: Plan, now: Step) -> Edits:
    sides = {"right": "at the end", "left": "at the beginning", "both": "on both sides"}
    for parameter, done in (("cut_side", "cut"), ("pad_side", "filled up")):
        for side, where in sides.items():
            if now.parameters[parameter] not in (side, "none"):
                for edited in retuned(plan, "fix_length", **{parameter: side}):
                    yield f"{done} {where}", edited
    other = "value" if now.parameters["fill"] == "repeat" else "repeat"
    for edited in retuned(plan, "fix_length", fill=other):
        yield "filled up by repeating it" if other == "repeat" else "filled up with one value", edited


def _other_lengths(plan: Plan, now: Step) -> Edits:
    for parameter in ("samples", "seconds"):
        length = now.parameters[parameter]
        if length is None:
            continue
        for words, factor in (("half as long", 0.5), ("twice as long", 2)):
            other = length * factor
            for edited in retuned(plan, "fix_length", **{parameter: int(other) if parameter == "samples" else other}):
                yield words, edited
