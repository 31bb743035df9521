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


@dataclass(frozen=True)
class Wave:
    """How loud a sound is in the course of time."""

    seconds: float
    loudest: float
    """The largest value without its sign, where 1 is as loud as the file can say."""
    peaks: tuple[tuple[float, float], ...]
    """(lowest, highest) value in each of some columns, from -1 to 1."""

    @property
    def about(self) -> str:
        level = f"loudest {20 * math.log10(self.loudest):.0f} dB" if self.loudest else "silence"
        return f"Waveform of {self.seconds:.2f} s, {level}"


def wave_of(data: bytes, columns: int = _COLUMNS) -> Wave | None:
    """The first channel of a sound; None where it is not plain WAV, or has no samples."""
    if kind_of(data[:16]) != "audio/wav":
        return None
    try:
        with wave.open(io.BytesIO(data)) as file:
            rate, width, channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
            values, top = _values(file.readframes(file.getnframes()), width, channels)
    except (wave.Error, EOFError, ValueError, ArithmeticError):
        return None
    if not values or rate <= 0:
        return None
    columns = min(columns, len(values))
    peaks = []
    for column in range(columns):
        piece = values[column * len(values) // columns : (column + 1) * len(values) // columns]
        peaks.append(((min(piece) - _middle(width)) / top, (max(piece) - _middle(width)) / top))
    return Wave(len(values) / rate, max(max(-low, high) for low, high in peaks), tuple(peaks))


def _middle(width: int) -> int:
    """What silence is: bytes have no sign, by the format's own rule."""
    return 128 if width == 1 else 0


def _values(frames: bytes, width: int, channels: int) -> tuple[Sequence[int], float]:
    """(the samples of the first channel, the value that counts as 1): whole numbers, which take little memory."""
    if width == 1:
        return frames[::channels], 128.0
    if width == 3:  # the lowest byte is not seen
        whole = bytearray(len(frames) // 3 * 2)
        whole[::2], whole[1::2] = frames[1 : len(whole) // 2 * 3 : 3], frames[2 : len(whole) // 2 * 3 : 3]
        frames, width = bytes(whole), 2
    if width not in (2, 4):
        return (), 1.0
    numbers = array.array("h" if width == 2 else "i", frames[: len(frames) // width * width])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers[::channels], float(1 << (8 * width - 1))


def waveform(data: bytes) -> str:
    """The highest and the lowest value in each of some columns, as SVG; empty where it is not plain WAV."""
    found = wave_of(data)
    if found is None:
        return ""
    middle, path = _HEIGHT / 2, []
    scale = (middle - 2) / max(found.loudest, 1e-4)
    for column, (low, high) in enumerate(found.peaks):
        x = (column + 0.5) * _COLUMNS / len(found.peaks)
        path.append(f"M{x:.1f} {middle - scale * high:.1f}V{middle - scale * low + 0.5:.1f}")
    return (
        f'<svg class="wave" viewBox="0 0 {_COLUMNS} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{found.about}"><path d="{"".join(path)}"/></svg>'
    )
