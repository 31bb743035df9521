"""Sounds made here: WAVE files of every coding, and a signal that is neither a pure tone nor mere noise."""

import struct
from typing import Any

import numpy as np

from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.sound import Sound

GUID = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"


def signal(count: int = 8000, rate: int = 16000) -> np.ndarray:
    """A tone that rises, some noise; loud in the middle. float64 from -1 to 1."""
    time = np.arange(count) / rate
    middle = np.exp(-(((time - count / rate / 2) / 0.2) ** 2))
    noise = np.random.RandomState(7).standard_normal(count)
    return 0.5 * middle * np.sin(2 * np.pi * (200 + 1500 * time) * time) + 0.02 * noise


def sound(array: Any = None, rate: int = 16000) -> Sound:
    return Sound(signal().astype(np.float32) if array is None else np.asarray(array), rate)


def run(value: Any, *steps: Any) -> Any:
    """Some steps, as a manifest would name them: names, or (name, parameters)."""
    for each in steps:
        name, parameters = each if isinstance(each, tuple) else (each, None)
        declaration = STEPS[name]
        value = declaration.function(value, **declaration.resolve(parameters))
    return value


def wave(body: bytes, *, tag: int = 1, channels: int = 1, rate: int = 16000, bits: int = 16, **lies: Any) -> bytes:
    """A WAVE file; `lies` are other sizes than the true ones, parts before the samples, and the like."""
    block = lies.get("block", channels * bits // 8 & 0xFFFF)
    head = struct.pack("<HHIIHH", tag, channels, rate, rate * block & 0xFFFFFFFF, block, bits)
    if lies.get("extensible"):
        head = struct.pack("<HHIIHH", 0xFFFE, channels, rate, rate * block, block, bits)
        head += struct.pack("<HHIH", 22, bits, 0, tag) + GUID
    parts = chunk(b"fmt ", head) + lies.get("before", b"") + chunk(b"data", body, lies.get("size"))
    return b"RIFF" + struct.pack("<I", lies.get("riff", 4 + len(parts))) + b"WAVE" + parts


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def pcm16(array: Any = None, **more: Any) -> bytes:
    values = np.rint(np.asarray(signal() if array is None else array) * 32767).astype("<i2")
    return wave(values.tobytes(), **more)
