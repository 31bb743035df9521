"""Sound files become samples, the same ones whatever library reads them; broken ones become a reason."""

import io
import struct
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline.sound import EncodedSound
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.pipeline.wave_file import read_wave
from worker_package.sounds import chunk, pcm16, run, signal, wave

soundfile = pytest.importorskip("soundfile", reason="not tried: soundfile is not installed")
SUBTYPES = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ALAW", "ULAW"]


def written(subtype: str, channels: int = 1, kind: str = "WAV") -> bytes:
    samples = np.stack([signal(999) * (0.9 - each / 4) for each in range(channels)], axis=1)
    out = io.BytesIO()
    if subtype == "PCM_16":  # each format rounds fractions in its own way
        samples = np.rint(samples * 32767).astype(np.int16)
    soundfile.write(out, samples, 16000, subtype=subtype, format=kind)
    return out.getvalue()


def decode(data: Any, **parameters: Any) -> np.ndarray:
    return run(data, ("decode_audio", parameters)).array


@pytest.mark.parametrize("kind", ["WAV", "WAVEX", "RF64"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("subtype", SUBTYPES)
def test_every_coding_is_read_as_libsndfile_reads_it(subtype: str, channels: int, kind: str) -> None:
    data = written(subtype, channels, kind)
    for scale in ("unit", "int16", "keep"):
        ours, theirs = (decode(data, library=each, scale=scale) for each in ("wave", "soundfile"))
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=0)
    read, _ = soundfile.read(io.BytesIO(data), dtype="float32")
    np.testing.assert_allclose(decode(data), read.T, rtol=1e-7, atol=0)


def test_the_scale_is_a_choice() -> None:
    data = wave(struct.pack("<4h", -32768, -1, 0, 32767))
    assert decode(data, scale="keep").tolist() == [-32768, -1, 0, 32767]
    assert decode(data, scale="keep").dtype == np.int16
    assert decode(data, scale="int16").tolist() == [-32768.0, -1.0, 0.0, 32767.0]
    assert decode(data, scale="unit").tolist() == [-1.0, -1 / 32768, 0.0, 32767 / 32768]


def test_eight_bits_are_around_zero() -> None:
    assert decode(wave(b"\x00\x80\xff", bits=8), scale="keep").tolist() == [-128, 0, 127]
    assert decode(wave(b"\x00\x80\xff", bits=8), scale="int16").tolist() == [-32768.0, 0.0, 127 * 256.0]


def test_parts_that_nobody_knows_are_passed_over() -> None:
    data = pcm16(before=chunk(b"LIST", b"odd") + chunk(b"junk", b""))
    assert len(decode(data)) == 8000


@pytest.mark.parametrize("library", ["wave", "soundfile"])
def test_a_piece_of_a_longer_file_has_its_place_in_it(library: str) -> None:
    whole = run(pcm16(), ("decode_audio", {"library": library}))
    piece = run(EncodedSound(pcm16(), 0.1, 0.05), ("decode_audio", {"library": library}))
    assert np.array_equal(piece.array, whole.array[1600:2400])
    assert piece.frame.seconds(0)[0] == pytest.approx(0.1) and piece.frame.seconds(799)[1] == pytest.approx(0.15)
    with pytest.raises(SampleError, match=r"the piece ends at 0\.900 s, and the sound has 0\.500 s"):
        run(EncodedSound(pcm16(), 0.4, 0.5), ("decode_audio", {"library": library}))


def floats(*values: float) -> bytes:
    return wave(np.array(values, "<f4").tobytes(), tag=3, bits=32)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"RIFF", "it is not a WAVE file"),
        (b"ID3\4" + b"\0" * 60, "not a WAVE file but an MP3 file; `library: soundfile` or `ffmpeg`"),
        (b"fLaC" + b"\0" * 60, "but a FLAC file"),
        (pcm16()[:40], "it has no samples"),
        (pcm16()[:-1000], "truncated: it claims 16000 bytes of samples and has 15000"),
        (pcm16(rate=0), "a rate of 0 Hz"),
        (pcm16(rate=0xFFFFFFFF), "a rate of 4294967295 Hz"),
        (pcm16(channels=0), "0 channels"),
        (pcm16(channels=65535), "65535 channels"),
        (wave(b""), "has 0 samples"),
        (pcm16(size=0xFFFFFFFF), "claims 4294967295 bytes of samples and has 16000; a size that its writer never"),
        (pcm16(size=0xFFFFFFF0), "claims 4294967280 bytes"),
        (pcm16(size=15999), "end within a sample"),
        (pcm16(block=7), "says 7 bytes for 1 channels of 16 bits"),
        (pcm16(bits=12), "PCM samples of 12 bits"),
        (pcm16(tag=85), "in format 85; known are PCM, float, A-law, mu-law"),
        (pcm16(before=chunk(b"fmt ", b"\0" * 16)), "twice"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"data", b"\0\0"), "before it says what they are"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"fmt ", b"\1\0"), "truncated"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"none", b"") * 3000, "more than 1000 parts"),
        (floats(0, float("nan")), r"not numbers \(NaN\)"),
        (floats(0, float("inf")), "too large"),
        (wave(np.array([1e300]).tobytes(), tag=3, bits=64), "too large"),
    ],
)
def test_a_broken_file_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(SampleError, match=reason):
        decode(data)


@pytest.mark.parametrize("library", ["soundfile", "ffmpeg"])
@pytest.mark.parametrize("data", [b"", b"no sound", b"fLaC" + b"\0" * 60, pcm16(rate=0), wave(b"")])
def test_other_libraries_give_a_reason_as_well(data: bytes, library: str) -> None:
    needs(library)
    with pytest.raises(SampleError, match=r"\w+ cannot read it|empty|0 samples|no sound"):
        decode(data, library=library)


def needs(library: str) -> None:
    try:
        libraries.load(library)
    except libraries.MissingLibrary as error:
        pytest.skip(f"not tried: {error}")


@pytest.mark.parametrize("library", libraries.AUDIO_DECODERS)
def test_more_samples_than_allowed_are_refused(library: str) -> None:
    needs(library)
    with pytest.raises(SampleError, match="allowed"):
        decode(pcm16(np.zeros(1_000_000)), library=library, max_samples=100_000)


def test_a_flac_file_that_claims_hours_gets_no_memory_for_them() -> None:
    data = bytearray(written("PCM_16", kind="FLAC"))
    data[21] |= 0x0F  # the count of samples has 36 bits; these are its uppermost
    with pytest.raises(SampleError, match="more than the 134217728 allowed"):
        decode(bytes(data), library="soundfile")
    with pytest.raises(SampleError, match="truncated|cannot read it"):
        decode(bytes(data), library="soundfile", max_samples=1 << 40)


def test_flac_is_read_to_the_last_bit() -> None:
    assert np.array_equal(decode(written("PCM_16", 2, "FLAC"), library="soundfile"), decode(written("PCM_16", 2)))


@pytest.mark.parametrize("kind", ["WAV", "FLAC"])
def test_ffmpeg_reads_the_same_samples(kind: str) -> None:
    needs("ffmpeg")
    found = decode(written("PCM_16", 2, kind), library="ffmpeg")
    assert np.array_equal(found, decode(written("PCM_16", 2)))


def test_ffmpeg_opens_no_file_that_a_playlist_names(tmp_path: Any) -> None:
    needs("ffmpeg")
    (tmp_path / "secret.wav").write_bytes(pcm16())
    for text in (
        f"ffconcat version 1.0\nfile '{tmp_path}/secret.wav'\n",
        f"#EXTM3U\n#EXTINF:1,\n{tmp_path}/secret.wav\n",
    ):
        with pytest.raises(SampleError, match="ffmpeg cannot read it"):
            decode(text.encode(), library="ffmpeg")


def test_the_header_alone_says_how_long_a_file_is() -> None:
    found = read_wave(wave(b"\0" * 24, channels=2, bits=24, rate=44100, extensible=True))
    assert (found.coding, found.bits, found.channels, found.rate, found.count) == ("PCM", 24, 2, 44100, 4)
