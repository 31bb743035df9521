"""Damaged files are refused or decoded; nothing else ever comes out, and nothing hangs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.value import SampleError
from worker_package import sounds
from worker_package.pictures import encode, jpeg, run, scene

SMALL = scene(16, 16)
FILES = {
    "jpeg": jpeg(SMALL),
    "progressive jpeg": jpeg(SMALL, progressive=True),
    "png": encode(SMALL, "PNG"),
    "gif": encode(SMALL, "GIF"),
    "webp": encode(SMALL, "WEBP"),
    "bmp": encode(SMALL, "BMP"),
    "tiff": encode(SMALL, "TIFF", compression="tiff_lzw"),
}
# What the worker's own filter passes over must not become an exception here.
pytestmark = pytest.mark.filterwarnings("ignore")


def damage(data: bytes, edits: list[tuple[float, int]], cut: float, extra: bytes) -> bytes:
    changed = bytearray(data)
    for place, value in edits:
        changed[int(place * (len(changed) - 1))] = value
    return bytes(changed[: max(1, int(len(changed) * cut))]) + extra


damages = st.builds(
    damage,
    st.sampled_from(sorted(FILES)).map(FILES.__getitem__),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8),
    st.sampled_from([1.0, 1.0, 1.0, 0.97, 0.5]),
    st.binary(max_size=8),
)


def survives(data: bytes, library: str) -> None:
    try:
        image = run("decode", data, {"library": library, "max_pixels": 1_000_000, "exif": "apply"})
    except ImageError as error:
        assert str(error)
    else:
        assert image.array.dtype == np.uint8 and image.array.shape[2] == 3


@given(damages)
@settings(max_examples=tries(40, 4000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_refused_or_decoded(decoder: str, data: bytes) -> None:
    survives(data, decoder)


@given(st.binary(max_size=200))
@settings(max_examples=tries(20, 2000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_bytes_are_refused(decoder: str, data: bytes) -> None:
    with pytest.raises(ImageError):
        run("decode", data, {"library": decoder})


WAVES = [
    sounds.pcm16(sounds.signal(50)),
    sounds.wave(b"\1\2\3" * 40, bits=24, channels=2, extensible=True),
    sounds.wave(np.linspace(-1, 1, 40, dtype="<f4").tobytes(), tag=3, bits=32, before=sounds.chunk(b"LIST", b"odd")),
    sounds.wave(bytes(range(256)), tag=6, bits=8),
    sounds.wave(bytes(range(256)), tag=7, bits=8, size=0xFFFFFFFF),
    b"RF64" + sounds.wave(b"\0" * 80, size=0xFFFFFFFF)[4:],
]
waves = st.builds(
    damage,
    st.sampled_from(WAVES),
    # Most damage is done to the header: a sample may be any number.
    st.lists(st.tuples(st.one_of(st.floats(0, 1), st.floats(0, 0.3)), st.integers(0, 255)), max_size=6),
    st.sampled_from([1.0, 1.0, 0.97, 0.5]),
    st.binary(max_size=8),
)


@given(st.one_of(waves, st.binary(max_size=200), st.binary(max_size=80).map(lambda data: b"RIFF\0\0\0\0WAVE" + data)))
@settings(max_examples=tries(200, 20000))
def test_a_damaged_wave_file_is_refused_or_read(data: bytes) -> None:
    try:
        found = sounds.run(data, "decode_audio").array
    except SampleError as error:
        assert str(error)
    else:
        assert found.dtype == np.float32 and 0 < found.size <= len(data) and np.isfinite(found).all()
