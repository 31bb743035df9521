"""What a file says about itself, read before any decoder is asked."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PIL

from budget import tries
from mlmodelscope_worker.pipeline import header
from mlmodelscope_worker.pipeline.container import gif_blocks, jpeg_segments, png_chunks, tiff_numbers, webp_chunks
from mlmodelscope_worker.pipeline.header import ImageError
from worker_package.conftest import INSTALLED
from worker_package.pictures import bombs, decode, encode, gif, jpeg, png_chunk, scene, see, tiff

KINDS = {"JPEG": "jpeg", "PNG": "png", "GIF": "gif", "BMP": "bmp", "WEBP": "webp", "TIFF": "tiff", "PPM": "pnm"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sides", [(47, 61), (1, 1), (300, 7)])
def test_size_and_kind_are_read_from_the_header(kind: str, sides: tuple[int, int]) -> None:
    data = encode(scene(*sides), kind)
    assert (header.kind(data), header.size(data)) == (KINDS[kind], sides)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"lossless": True, "exif": b"II*\0"}])
def test_all_three_webp_headers_are_read(options: dict) -> None:
    assert header.size(encode(scene(33, 20), "WEBP", **options)) == (33, 20)


def test_a_bitmap_of_os2_has_a_short_header() -> None:
    rows = b"".join(scene(8, 8)[::-1, :, ::-1].reshape(8, -1).tobytes()[at * 24 : at * 24 + 24] for at in range(8))
    data = b"BM" + struct.pack("<IHHI", 26 + 192, 0, 0, 26) + struct.pack("<IHHHH", 12, 8, 8, 1, 24) + rows
    assert header.size(data) == (8, 8)
    assert np.array_equal(decode(data), scene(8, 8))


def test_a_frame_larger_than_its_screen_counts() -> None:
    assert header.size(gif(8, 8, (100, 50, 30, 20))) == (70, 130)


def test_unknown_bytes_have_neither_kind_nor_size() -> None:
    assert header.kind(b"RIFF....WAVE") is None and header.size(b"RIFF....WAVE") is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_header_that_stops_short_is_refused(kind: str) -> None:
    data = encode(scene(), kind)
    for length in range(2, 12):
        if header.kind(data[:length]) is not None:
            with pytest.raises(ImageError):
                header.inspect(data[:length], 10**9)


def test_a_tiff_without_a_size_is_refused() -> None:
    odd = tiff(8, 8, b"").replace(struct.pack("<HH", 256, 4), struct.pack("<HH", 256, 5))  # a width that is a fraction
    with pytest.raises(ImageError, match="the TIFF header gives no size"):
        header.size(odd)


@pytest.mark.parametrize("largest", [b"65535", b"15"])
def test_a_pnm_of_other_than_8_bits_is_refused(largest: bytes) -> None:
    with pytest.raises(ImageError, match=f"up to {largest.decode()}, not 255"):
        header.size(b"P5 2 2 " + largest + b"\n" + bytes(8))


# Truncation.


def test_bytes_after_the_end_of_a_jpeg_do_not_count() -> None:
    """Telephones append a film; it may hold anything, a start of scan among it."""
    data = jpeg()
    assert np.array_equal(decode(data + b"film\xff\xda\xff\xda film"), see(data))


def test_a_thumbnails_end_is_not_the_pictures_end() -> None:
    data = jpeg()
    inner = b"Exif\0\0" + jpeg(scene(8, 8))
    outer = data[:2] + b"\xff\xe1" + struct.pack(">H", len(inner) + 2) + inner + data[2:]
    assert np.array_equal(decode(outer), see(data))
    with pytest.raises(ImageError, match="the JPEG file is truncated"):
        header.refuse_truncated(outer[:-200])


def test_junk_between_jpeg_segments_is_passed_over() -> None:
    data = jpeg()
    assert header.size(data[:20] + b"\0\1\2" + data[20:]) == (47, 61)


def test_the_word_iend_does_not_end_a_png() -> None:
    data = encode(scene(), "PNG")
    tricked = data[:33] + png_chunk(b"tEXt", b"a\0IEND") + data[33:]
    header.refuse_truncated(tricked)
    with pytest.raises(ImageError, match="the PNG file is truncated"):
        header.refuse_truncated(tricked[:-4])


def test_a_jpeg_of_a_thousand_scans_is_refused() -> None:
    data = jpeg(progressive=True)
    (start, end) = next((start, end) for marker, start, end in jpeg_segments(data) if marker == 0xDA)
    scan = data[start - 4 : end]
    with pytest.raises(ImageError, match="scans is refused"):
        header.refuse_truncated(data[:-2] + scan * 1000 + data[-2:])


# Orientation.


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [3, 4])
def test_orientation_is_read_in_both_byte_orders_and_widths(order: str, kind: int) -> None:
    assert header.orientation(tiff(8, 8, b"", (274, kind, 6), order=order)) == 6


def test_the_word_exif_inside_pixels_is_no_orientation() -> None:
    turn = tiff(1, 1, b"", (274, 3, 6))
    data = encode(scene(), "PNG")
    assert header.orientation(data[:33] + png_chunk(b"tEXt", b"a\0eXIf" + turn) + data[33:]) == 1
    assert header.orientation(data[:33] + png_chunk(b"eXIf", turn) + data[33:]) == 6


def test_a_damaged_exif_block_turns_nothing() -> None:
    exif = PIL.Exif()
    exif[0x0112] = 6
    data = jpeg(exif=exif)
    at = data.index(b"Exif") + 10
    assert header.orientation(data) == 6
    assert header.orientation(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :]) == 1


# Walking never fails, whatever the bytes.

STARTS = [
    b"",
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF\0\0\0\0WEBPVP8X",
    b"II*\0",
    b"MM\0+",
    b"BM",
    b"P6 ",
]


@given(st.sampled_from(STARTS), st.binary(max_size=400))
@settings(max_examples=tries(60, 5000))
def test_any_bytes_are_inspected_or_refused(start: bytes, rest: bytes) -> None:
    data = start + rest
    for walk in (jpeg_segments, png_chunks, gif_blocks, webp_chunks, tiff_numbers):
        assert len(list(walk(data))) <= len(data)
    try:
        header.inspect(data, 10**6)
    except ImageError:
        return
    assert 1 <= header.orientation(data) <= 8
    assert header.kind(header.still(data)) == header.kind(data)


def test_refusing_bombs_takes_no_memory(tmp_path: Path) -> None:
    """In a process of its own: how much memory it has ever held is known exactly there."""
    program = """
import resource, sys
from mlmodelscope_worker.pipeline import STEPS, library, header
names = sys.argv[2:]
for name in names:
    library.load(name)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
decode = STEPS["decode"]
for name in names:
    for at in range(int(sys.argv[1])):
        try:
            with open("bomb-%d" % at, "rb") as file:
                decode.function(file.read(), **decode.resolve({"library": name}))
            sys.exit("it was decoded")
        except header.ImageError:
            pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    files = bombs().values()
    for at, data in enumerate(files):
        (tmp_path / f"bomb-{at}").write_bytes(data)
    command = [sys.executable, "-c", program, str(len(files)), *INSTALLED]
    grown_kib = int(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    assert grown_kib < 32 * 1024
