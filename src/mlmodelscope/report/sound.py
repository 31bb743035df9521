"""A sample's sound: what a browser plays, no longer than a page can carry, and its waveform."""

from __future__ import annotations

import array
import base64
import io
import math
import sys
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_BYTES = 1_500_000
_MOST_OF_A_PAGE = 12_000_000
_COLUMNS = 240
_HEIGHT = 56
# What a browser plays and never runs, by how a file begins.
_KINDS = (
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
)


@dataclass(frozen=True)
class Recording:
    """A file, or the piece of it that a sample is."""

    data: bytes
    media_type: str
    remark: str = ""
    """Which piece of the file is meant, where all of it is played."""


@dataclass(frozen=True)
class Sound:
    uri: str | None
    """A `data:` address, or nothing."""
    reason: str = ""
    """Why it cannot be played here."""
    chart: str = ""
    """Its waveform as SVG, where the file is plain WAV."""
    remark: str = ""


class Unplayable(Exception):
    """Why a sound cannot be played."""


class Sounds:
    """Sounds of one page, which may carry so much of them."""

    def __init__(self, most: int = _MOST_OF_A_PAGE) -> None:
        self._left = most

    def make(self, form: Mapping[str, Any]) -> Sound:
        try:
            found = recording(form)
        except Unplayable as error:
            return Sound(None, str(error))
        drawn = waveform(found.data)
        if len(found.data) > self._left:
            return Sound(None, "this page has as many sounds as it can carry", drawn)
        self._left -= len(found.data)
        text = base64.b64encode(found.data).decode("ascii")
        return Sound(f"data:{found.media_type};base64,{text}", "", drawn, found.remark)


def recording(form: Mapping[str, Any], most: int = MOST_BYTES) -> Recording:
    """The bytes of a sample's sound; of a WAV file only the piece that it is. Unplayable where there are too many."""
    path, start, seconds = Path(form["file"]), float(form.get("start", 0.0)), form.get("seconds")
    is_piece = "start" in form or seconds is not None
    try:
        with path.open("rb") as file:
            head = file.read(16)
        kind = kind_of(head)
        if kind is None:
            raise Unplayable("a browser plays WAV, FLAC, MP3 and Ogg, and this is none of them")
        if is_piece and kind == "audio/wav" and (cut := _cut_wav(path, start, seconds, most)) is not None:
            return Recording(cut, kind)
        size = path.stat().st_size
        if size > most:
            raise Unplayable(f"{size:,} bytes are more than the {most:,} that can be played here")
        until = "" if seconds is None else f" to {start + float(seconds):.2f} s"
        remark = f"The sample is from {start:.2f} s{until or ' to the end'} of this." if is_piece else ""
        return Recording(path.read_bytes(), kind, remark)
    except OSError as error:
        raise Unplayable(f"cannot read it: {error.strerror or error}") from None


def kind_of(head: bytes) -> str | None:
    """The media type of a sound that browsers play, by how its file begins."""
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav"
    return next((kind for start, kind in _KINDS if head.startswith(start)), None)


def _cut_wav(path: Path, start: float, seconds: float | None, most: int) -> bytes | None:
    """A piece of a WAV file as a file of its own; None where it is not plain samples."""
    try:
        with wave.open(str(path)) as whole:
            rate, width, channels = whole.getframerate(), whole.getsampwidth(), whole.getnchannels()
            first = min(max(0, round(start * rate)), whole.getnframes())
            count = whole.getnframes() - first if seconds is None else round(max(0.0, seconds) * rate)
            if count * width * channels > most:
                raise Unplayable(f"{count / rate:.0f} s of sound are more than can be played here")
            whole.setpos(first)
            frames = whole.readframes(count)
    except (wave.Error, EOFError, ArithmeticError, ValueError):
        return None
    made = io.BytesIO()
    with wave.open(made, "wb") as piece:
        piece.setnchannels(channels)
        piece.setsampwidth(width)
        piece.setframerate(rate)
        piece.writeframes(frames)
    return made.getvalue()


def waveform(data: bytes) -> str:
    """The loudest and the softest value in each of some columns, as SVG; empty where it is not plain WAV."""
    if kind_of(data[:16]) != "audio/wav":
        return ""
    try:
        with wave.open(io.BytesIO(data)) as file:
            rate, frames = file.getframerate(), file.getnframes()
            values = _values(file.readframes(frames), file.getsampwidth(), file.getnchannels())
    except (wave.Error, EOFError, ValueError, ArithmeticError):
        return ""
    return _drawn(values, len(values) / rate) if values and rate > 0 else ""


def _values(frames: bytes, width: int, channels: int) -> Sequence[float]:
    """The first channel, from -1 to 1."""
    if width == 1:  # without a sign, by the format's own rule
        return [(each - 128) / 128 for each in frames[::channels]]
    if width == 3:
        frames = b"".join(frames[at + 1 : at + 3] for at in range(0, len(frames) - 2, 3))
        width = 2
    if width not in (2, 4):
        return []
    numbers = array.array("h" if width == 2 else "i", frames[: len(frames) // width * width])
    if sys.byteorder == "big":
        numbers.byteswap()
    top = float(1 << (8 * width - 1))
    return [each / top for each in numbers[::channels]]


def _drawn(values: Sequence[float], seconds: float) -> str:
    columns = min(_COLUMNS, len(values))
    middle, path = _HEIGHT / 2, []
    loudest = max(max(values), -min(values))
    scale = (middle - 2) / max(loudest, 1e-4)
    for column in range(columns):
        piece = values[column * len(values) // columns : max((column + 1) * len(values) // columns, 1)]
        x = (column + 0.5) * _COLUMNS / columns
        path.append(f"M{x:.1f} {middle - scale * max(piece):.1f}V{middle - scale * min(piece) + 0.5:.1f}")
    decibels = f"{20 * math.log10(loudest):.0f} dB" if loudest else "silence"
    label = f"Waveform of {seconds:.2f} s, {'loudest ' if loudest else ''}{decibels}"
    return (
        f'<svg class="wave" viewBox="0 0 {_COLUMNS} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><path d="{"".join(path)}"/></svg>'
    )
