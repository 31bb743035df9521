"""One rule for every library: what comes out of a file depends on the file and the plan, not on who decodes."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image as PIL
from PIL import ImageOps

from mlmodelscope_worker.pipeline import header
from mlmodelscope_worker.pipeline import library as libraries
from mlmodelscope_worker.pipeline.decode import to_gray
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from worker_package.pictures import bombs, decode, encode, gif, jpeg, png, run, scene, see, tiff

GRAYS = np.asarray(PIL.fromarray(scene()).convert("L"))
SIXTEEN = (np.arange(47 * 61, dtype=np.uint32) * 22 % 65536).astype(np.uint16).reshape(47, 61)
PALETTE = PIL.fromarray(scene()).quantize(64)
ALPHA = np.dstack([scene(), (SIXTEEN >> 8).astype(np.uint8)])


UNREADABLE = {"tensorflow": ("TIFF", "PNM"), "torchvision": ("TIFF", "PNM", "BMP", "animated WebP")}


# Decoders agree.


@pytest.mark.parametrize("subsampling", [0, 2], ids=["4:4:4", "4:2:0"])
@pytest.mark.parametrize("sides", [(47, 61), (64, 64), (1, 1), (9, 200)])
def test_accurate_decoders_agree_to_the_bit(decoder: str, subsampling: int, sides: tuple[int, int]) -> None:
    data = jpeg(scene(*sides), subsampling=subsampling)
    assert np.array_equal(decode(data, library=decoder), see(data))


def test_a_progressive_jpeg_is_the_same_everywhere(decoder: str) -> None:
    data = jpeg(progressive=True)
    assert np.array_equal(decode(data, library=decoder), see(data))


@pytest.mark.parametrize("subsampling", [0, 2], ids=["4:4:4", "4:2:0"])
def test_the_fast_dct_differs_a_little(fast_decoder: str, subsampling: int) -> None:
    data = jpeg(subsampling=subsampling)
    accurate, fast = (decode(data, library=fast_decoder, dct=dct).astype(int) for dct in ("accurate", "fast"))
    differing = accurate != fast
    assert differing.mean() > 0.1 and abs(accurate - fast).max() < 40


# Colours, layouts, types.


def test_bgr_is_rgb_backwards(decoder: str) -> None:
    data = jpeg()
    assert np.array_equal(decode(data, library=decoder, color_layout="BGR"), see(data)[:, :, ::-1])


def test_grey_is_the_luma_of_the_colours(decoder: str) -> None:
    """And not a JPEG's own luma channel, which is another where colours were clipped."""
    noise = np.random.default_rng(1).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    data = jpeg(noise, quality=40, subsampling=0)
    expected = np.asarray(PIL.fromarray(see(data)).convert("L"))
    assert np.array_equal(decode(data, library=decoder, color_layout="GRAY")[:, :, 0], expected)


def test_our_luma_is_pillows_for_every_colour() -> None:
    steps = np.array(sorted({*range(0, 256, 5), 1, 254}), np.uint8)
    colors = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(1, -1, 3)
    assert np.array_equal(to_gray(colors)[:, :, 0], np.asarray(PIL.fromarray(colors).convert("L")))


@pytest.mark.parametrize("color", ["RGB", "BGR", "GRAY"])
@pytest.mark.parametrize("layout", ["HWC", "NHWC", "CHW", "NCHW"])
@pytest.mark.parametrize("element_type", ["uint8", "int8", "float32"])
def test_colour_layout_and_type_are_what_was_asked_for(color: str, layout: str, element_type: str) -> None:
    parameters = {"color_layout": color, "data_layout": layout, "element_type": element_type}
    image = run("decode", encode(scene(), "PNG"), parameters)
    plain = run("decode", encode(scene(), "PNG"), {"color_layout": color}).array
    assert image.array.dtype.name == ("float32" if element_type == "float32" else "uint8")
    assert (image.layout, image.color) == (layout[-3:], color)
    assert np.array_equal(image.array, plain if layout.endswith("HWC") else plain.transpose(2, 0, 1))


@pytest.mark.parametrize("parameters", [{}, {"data_layout": "CHW"}, {"exif": "apply"}, {"color_layout": "BGR"}])
def test_what_was_decoded_can_be_calculated_with(decoder: str, parameters: dict[str, str]) -> None:
    image = run("decode", jpeg(scene(1, 1), exif=oriented(2)), {"library": decoder, **parameters})
    before = np.array(image.array)
    dimmed = run("mean", image, {"values": 3, "element_type": "uint8"})
    assert np.array_equal(dimmed.array, before - np.uint8(3))


# The rule, file by file. Lossless files, so that Pillow, OpenCV and the others must agree to the bit.

TOP = (SIXTEEN >> 8).astype(np.uint8)
FILES: dict[str, Callable[[], tuple[bytes, np.ndarray]]] = {
    "grey": lambda: (encode(GRAYS, "PNG"), repeat(GRAYS)),
    "grey TIFF": lambda: (encode(GRAYS, "TIFF"), repeat(GRAYS)),
    "1 bit": lambda: (encode(one_bit(), "PNG"), repeat(np.asarray(one_bit().convert("L")))),
    "1 bit TIFF": lambda: (encode(one_bit(), "TIFF"), repeat(np.asarray(one_bit().convert("L")))),
    "palette": lambda: (encode(PALETTE, "PNG"), np.asarray(PALETTE.convert("RGB"))),
    "palette, one colour transparent": lambda: (
        encode(PALETTE, "PNG", transparency=3),
        np.asarray(PALETTE.convert("RGB")),
    ),
    "palette, all colours half transparent": lambda: (
        encode(PALETTE, "PNG", transparency=bytes(range(64))),
        np.asarray(PALETTE.convert("RGB")),
    ),
    "palette TIFF": lambda: (encode(PALETTE, "TIFF"), np.asarray(PALETTE.convert("RGB"))),
    "alpha": lambda: (encode(ALPHA, "PNG"), scene()),
    "alpha WebP": lambda: (encode(ALPHA, "WEBP", lossless=True, exact=True), scene()),
    "alpha TIFF": lambda: (encode(ALPHA, "TIFF"), scene()),
    "grey with alpha": lambda: (encode(np.dstack([GRAYS, TOP]), "PNG"), repeat(GRAYS)),
    "grey with a transparent level": lambda: (encode(GRAYS, "PNG", transparency=90), repeat(GRAYS)),
    "16 bits": lambda: (encode(SIXTEEN, "PNG"), repeat(TOP)),
    "16 bits TIFF": lambda: (encode(SIXTEEN, "TIFF"), repeat(TOP)),
    "16 bits RGB": lambda: (deep_png(), np.dstack([TOP, TOP[::-1], TOP[:, ::-1]])),
    "GIF": lambda: (encode(PALETTE, "GIF"), np.asarray(PALETTE.convert("RGB"))),
    "GIF with a transparent colour": lambda: (
        encode(PALETTE, "GIF", transparency=3),
        np.asarray(PALETTE.convert("RGB")),
    ),
    "animated GIF": lambda: (animated(PALETTE, "GIF"), np.asarray(PALETTE.convert("RGB"))),
    "animated WebP": lambda: (animated(PIL.fromarray(scene()), "WEBP", lossless=True), scene()),
    "animated PNG": lambda: (animated(PIL.fromarray(scene()), "PNG"), scene()),
    "animated PNG with a picture of its own for others": lambda: (
        animated(PIL.fromarray(scene()), "PNG", default_image=True),
        scene(),
    ),
    "TIFF of several pages": lambda: (animated(PIL.fromarray(scene()), "TIFF"), scene()),
    "big-endian TIFF": lambda: (tiff(61, 47, scene().tobytes(), order=">"), scene()),
    "BMP": lambda: (encode(scene(), "BMP"), scene()),
    "BMP with alpha": lambda: (encode(ALPHA, "BMP"), scene()),
    "PNM": lambda: (encode(scene(), "PPM"), scene()),
}


def repeat(gray: np.ndarray) -> np.ndarray:
    return np.dstack([gray] * 3)


def one_bit() -> PIL.Image:
    return PIL.fromarray(scene()).convert("1")


def deep_png() -> bytes:
    pixels = np.dstack([SIXTEEN, SIXTEEN[::-1], SIXTEEN[:, ::-1]]).astype(">u2")
    return png(61, 47, b"".join(b"\0" + row.tobytes() for row in pixels), depth=16)


def animated(picture: PIL.Image, kind: str, **options: Any) -> bytes:
    frames = [picture.rotate(180), picture.rotate(90)]
    return encode(picture, kind, save_all=True, append_images=frames, **options)


@pytest.mark.parametrize("what", FILES)
def test_every_kind_of_file_follows_the_rule(any_format_decoder: str, what: str) -> None:
    data, expected = FILES[what]()
    if any(words in what for words in UNREADABLE.get(any_format_decoder, ())):
        with pytest.raises(ImageError, match="cannot decode"):
            decode(data, library=any_format_decoder)
    else:
        assert np.array_equal(decode(data, library=any_format_decoder), expected)


def test_a_palette_in_a_bmp_is_expanded_or_refused(any_format_decoder: str) -> None:
    data = encode(PALETTE, "BMP")
    try:
        assert np.array_equal(decode(data, library=any_format_decoder), np.asarray(PALETTE.convert("RGB")))
    except ImageError:
        assert any_format_decoder in ("tensorflow", "torchvision")


def test_cmyk_becomes_rgb_by_the_librarys_own_formula(decoder: str) -> None:
    data = encode(PIL.fromarray(scene()).convert("CMYK"), "JPEG", quality=95)
    if decoder == "turbojpeg":
        with pytest.raises(ImageError, match="cannot decode"):
            decode(data, library=decoder)
    else:
        assert abs(decode(data, library=decoder).astype(int) - see(data)).max() <= 2


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_more_than_16_bits_are_refused(any_format_decoder: str, kind: type) -> None:
    with pytest.raises(ImageError, match="too many|cannot decode"):
        decode(encode(GRAYS.astype(kind), "TIFF"), library=any_format_decoder)


@pytest.mark.parametrize("kind", ["JPEG2000", "AVIF"])
def test_formats_whose_headers_are_not_read_are_pillows_alone(kind: str) -> None:
    try:
        data = encode(scene(), kind)
    except (KeyError, OSError) as error:
        pytest.skip(f"this Pillow cannot write {kind}: {error}")
    assert decode(data).shape == (47, 61, 3)
    with pytest.raises(ImageError, match="library: pillow"):
        decode(data, library="opencv")


def test_a_library_for_jpeg_alone_says_so() -> None:
    pytest.importorskip("simplejpeg")
    with pytest.raises(ImageError, match="JPEG files only, and this is png"):
        decode(encode(scene(), "PNG"), library="simplejpeg")


# Orientation.


def oriented(orientation: int) -> PIL.Exif:
    exif = PIL.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_turns_the_image_when_asked_to_and_only_then(any_format_decoder: str, orientation: int, kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encode(scene(), kind, exif=oriented(orientation), **options)
    upright = np.asarray(ImageOps.exif_transpose(PIL.open(io.BytesIO(data))).convert("RGB"))
    assert np.array_equal(decode(data, library=any_format_decoder, exif="apply"), upright)
    assert np.array_equal(decode(data, library=any_format_decoder), see(data))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("library", ["pillow", "opencv"])
def test_a_tiff_is_turned_by_nobody_but_us(library: str, orientation: int) -> None:
    data = encode(scene(), "TIFF", tiffinfo={0x0112: orientation})
    upright = decode(encode(scene(), "PNG", exif=oriented(orientation)), exif="apply")
    assert np.array_equal(decode(data, library=library), scene())
    assert np.array_equal(decode(data, library=library, exif="apply"), upright)


def test_a_senseless_orientation_leaves_the_image_as_it_is(decoder: str) -> None:
    data = jpeg(exif=oriented(99))
    assert np.array_equal(decode(data, library=decoder, exif="apply"), see(data))


# What is refused.


@pytest.mark.parametrize("bomb", bombs())
def test_a_bomb_is_refused_before_any_library_sees_it(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "load", lambda name: pytest.fail("a decoder was asked"))
    with pytest.raises(ImageError, match="30000 x 30000 pixels are more than the 89478485 allowed"):
        decode(bombs()[bomb])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM"])
@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_file_is_refused(any_format_decoder: str, kind: str, kept: float) -> None:
    data = encode(scene(), kind)
    with pytest.raises(ImageError):
        decode(data[: min(int(len(data) * kept), len(data) - 2)], library=any_format_decoder)


@pytest.mark.parametrize("missing", [1, 500, 4000, 8600])
def test_a_tiff_without_its_last_pixels_is_refused(any_format_decoder: str, missing: int) -> None:
    with pytest.raises(ImageError):
        decode(tiff(61, 47, scene().tobytes())[:-missing], library=any_format_decoder)


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"II*\0", b"P6 "]
)
def test_next_to_nothing_is_refused(decoder: str, data: bytes) -> None:
    with pytest.raises(ImageError):
        decode(data, library=decoder)


def test_postscript_is_a_program_and_not_run() -> None:
    with pytest.raises(ImageError, match="it is none of JPEG, PNG"):
        decode(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n")


def test_the_limit_is_part_of_the_plan() -> None:
    data = encode(scene(), "PNG")
    assert decode(data, max_pixels=47 * 61).shape == (47, 61, 3)
    with pytest.raises(ImageError, match="61 x 47 pixels are more than the 2866 allowed"):
        decode(data, max_pixels=47 * 61 - 1)


def test_corrupt_metadata_is_no_reason_to_refuse_pixels(decoder: str) -> None:
    data = jpeg(exif=oriented(1))
    at = data.index(b"Exif") + 6
    assert decode(data[:at] + b"XX" + data[at + 2 :], library=decoder, exif="apply").shape == (47, 61, 3)


# Samples that were never encoded.


@pytest.mark.parametrize("color", ["RGB", "BGR"])
def test_raw_pixels_are_brought_into_the_colours_asked_for(color: str) -> None:
    stored = scene() if color == "RGB" else scene()[:, :, ::-1]
    sample = Image(stored.transpose(2, 0, 1), layout="CHW", color=color)
    assert np.array_equal(run("decode", sample).array, scene())
    assert np.array_equal(run("decode", sample, {"color_layout": "BGR"}).array, scene()[:, :, ::-1])
    assert np.array_equal(run("decode", sample, {"color_layout": "GRAY"}).array[:, :, 0], GRAYS)


def test_raw_grey_becomes_three_channels() -> None:
    sample = Image(GRAYS[:, :, None], color="GRAY")
    assert np.array_equal(run("decode", sample).array, repeat(GRAYS))
    assert np.array_equal(run("decode", sample, {"color_layout": "GRAY"}).array[:, :, 0], GRAYS)


def test_raw_fractions_stay_fractions() -> None:
    sample = Image(np.full((2, 2, 3), 0.25, np.float32))
    gray = run("decode", sample, {"color_layout": "GRAY"}).array
    assert gray.dtype == np.float32 and np.allclose(gray, 0.25)


def test_raw_pixels_with_alpha_are_refused() -> None:
    with pytest.raises(ImageError, match="4 channels"):
        run("decode", Image(np.zeros((2, 2, 4), np.uint8)))


def test_a_gif_frame_smaller_than_its_screen_is_placed_or_refused(any_format_decoder: str) -> None:
    data = gif(20, 10, (3, 2, 8, 5))
    if any_format_decoder == "tensorflow":
        with pytest.raises(ImageError, match="does not place a GIF frame"):
            decode(data, library=any_format_decoder)
    else:
        pixels = decode(data, library=any_format_decoder)
        assert pixels.shape[:2] == header.size(data) == (10, 20)
        assert (pixels[2:7, 3:11] == [60, 80, 100]).all()
