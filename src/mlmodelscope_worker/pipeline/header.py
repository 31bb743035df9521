"""What an encoded image says about itself, read before any decoder allocates memory for it."""

import re
import struct

from .container import gif_blocks, jpeg_segments, png_chunks, tiff_numbers, webp_chunks
from .value import SampleError

_NAMES = {
    "jpeg": "JPEG",
    "png": "PNG",
    "gif": "GIF",
    "bmp": "BMP",
    "webp": "WebP",
    "tiff": "TIFF",
    "pnm": "PNM",
    "jpeg2000": "JPEG 2000",
    "avif": "AVIF",
}
_PNM = re.compile(rb"P[1-6](?:\s|#[^\n]*\n)+(\d{1,9})(?:\s|#[^\n]*\n)+(\d{1,9})(?:\s|#[^\n]*\n)+(\d{1,9})?")
_MAX_SCANS = 500  # each scan visits every pixel again: a small file with many of them keeps a decoder busy for hours

_WIDTH, _HEIGHT, _ORIENTATION, _TILE_WIDTH, _TILE_HEIGHT, _EXTRA_SAMPLES = 256, 257, 274, 322, 323, 338


class ImageError(SampleError):
    """This sample cannot be decoded; the message says why."""


def kind(data):
    """The format by its first bytes, or None."""
    if data[:3] == b"\xff\xd8\xff":
        return "jpeg"
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "png"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "gif"
    if data[:2] == b"BM":
        return "bmp"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[:4] in (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"):
        return "tiff"
    if data[:1] == b"P" and data[1:2].isdigit() and data[2:3].isspace():
        return "pnm"
    if data[:4] == b"\xff\x4f\xff\x51" or data[4:12] == b"jP  \r\n\x87\n":
        return "jpeg2000"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "avif"
    return None


def size(data):
    """(height, width) from the header, or None where this format's header is not read here."""
    found = kind(data)
    try:
        return _SIZES[found](data) if found in _SIZES else None
    except struct.error:
        raise ImageError("the file ends inside its %s header" % _NAMES[found])


def _jpeg_size(data):
    for marker, start, _ in jpeg_segments(data):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return struct.unpack_from(">HH", data, start + 1)
    raise ImageError("the file ends before the JPEG header gives a size")


def _png_size(data):
    width, height = struct.unpack_from(">II", data, 16)
    return height, width


def _gif_size(data):
    """The screen, or the first frame where it reaches beyond: some decoders enlarge the screen for it."""
    width, height = struct.unpack_from("<HH", data, 6)
    for introducer, start, _ in gif_blocks(data):
        if introducer == b",":
            left, top, frame_width, frame_height = struct.unpack_from("<HHHH", data, start + 1)
            return max(height, top + frame_height), max(width, left + frame_width)
    return height, width


def _bmp_size(data):
    (length,) = struct.unpack_from("<I", data, 14)
    width, height = struct.unpack_from("<HH" if length == 12 else "<ii", data, 18)
    return abs(height), abs(width)


def _webp_size(data):
    if data[12:16] == b"VP8X":
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", data, 24)
        return 1 + low_height + (high_height << 16), 1 + low_width + (high_width << 16)
    if data[12:16] == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits >> 14 & 0x3FFF), 1 + (bits & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return height & 0x3FFF, width & 0x3FFF


def _tiff_size(data):
    """The image, or its tiles where those are larger: a decoder takes memory for a whole tile."""
    found = {}
    for tag, value, _, _ in tiff_numbers(data):
        found[tag] = max(found.get(tag, 0), value)
    if _WIDTH not in found or _HEIGHT not in found:
        raise ImageError("the TIFF header gives no size")
    tile = found.get(_TILE_HEIGHT, 0), found.get(_TILE_WIDTH, 0)
    return max((found[_HEIGHT], found[_WIDTH]), tile, key=lambda sides: sides[0] * sides[1])


def _pnm_size(data):
    found = _PNM.match(data[:4096])
    if found is None:
        raise ImageError("the PNM header gives no size")
    width, height, largest = found.groups()
    if data[1:2] not in b"14" and largest != b"255":  # libraries scale other ranges differently
        raise ImageError("the PNM file has values up to %s, not 255" % (largest or b"?").decode("ascii"))
    return int(height), int(width)


_SIZES = {
    "jpeg": _jpeg_size,
    "png": _png_size,
    "gif": _gif_size,
    "bmp": _bmp_size,
    "webp": _webp_size,
    "tiff": _tiff_size,
    "pnm": _pnm_size,
}


def inspect(data, max_pixels):
    """Refuse what should not reach a decoder: no image, too large an image, half an image."""
    if not data:
        raise ImageError("the file is empty")
    if kind(data) is None:
        raise ImageError("it is none of %s" % ", ".join(_NAMES.values()))
    refuse_bomb(data, max_pixels)
    refuse_truncated(data)


def refuse_bomb(data, max_pixels):
    """Refuse an image whose header promises more pixels than allowed."""
    found = size(data)
    if found is not None:
        refuse_size(found[0], found[1], max_pixels)


def refuse_size(height, width, max_pixels):
    if height * width > max_pixels:
        raise ImageError("%d x %d pixels are more than the %d allowed" % (width, height, max_pixels))


def refuse_truncated(data):
    """Refuse a file whose end is missing: some decoders would fill the rest with grey and say nothing.

    BMP, TIFF and PNM files have no end of their own; there every decoder misses the pixels.
    """
    found = kind(data)
    whole = True
    if found == "jpeg":
        whole = _is_whole_jpeg(data)
    elif found == "png":
        whole = any(name == b"IEND" for name, _, _ in png_chunks(data))
    elif found == "gif":
        blocks = [introducer for introducer, _, _ in gif_blocks(data)]
        whole = b"," in blocks and blocks[-1] == b";"
    elif found == "webp":
        whole = len(data) >= 8 + struct.unpack_from("<I", data, 4)[0]
    if not whole:
        raise ImageError("the %s file is truncated" % _NAMES[found])


def _is_whole_jpeg(data):
    components = 0
    for marker, start, _ in jpeg_segments(data):
        if marker in (0xC0, 0xC1) and start + 5 < len(data):  # not progressive
            components = data[start + 5]
        if marker == 0xDA:
            # Nearly every file: all components in one scan, after which decoders stop, and the end where it belongs.
            # Walking through the scan to be sure would take as long as a tenth of decoding it.
            if components and data[start : start + 1] == bytes((components,)) and data.endswith(b"\xff\xd9"):
                return True
            break
    markers = [marker for marker, _, _ in jpeg_segments(data)]
    if markers.count(0xDA) > _MAX_SCANS:
        raise ImageError("a JPEG file of %d scans is refused" % markers.count(0xDA))
    return 0xDA in markers and markers[-1] == 0xD9


def orientation(data):
    """The EXIF orientation, 1 to 8, of a JPEG, PNG, WebP or TIFF file; 1 (upright) where there is none."""
    for tag, value, _, _ in tiff_numbers(_exif(data)):
        if tag == _ORIENTATION:
            return value if 1 <= value <= 8 else 1
    return 1


def _exif(data):
    found = kind(data)
    if found == "tiff":
        return data
    if found == "jpeg":
        for marker, start, end in jpeg_segments(data):
            if marker == 0xE1 and data[start : start + 6] == b"Exif\x00\x00":
                return data[start + 6 : end]
    elif found == "png":
        for name, start, end in png_chunks(data):
            if name == b"eXIf":
                return data[start + 8 : end - 4]
    elif found == "webp":
        for name, start, end in webp_chunks(data):
            if name == b"EXIF":
                return data[start + 6 if data[start : start + 6] == b"Exif\x00\x00" else start : end]
    return b""


def still(data):
    """The same picture without what decoders treat differently: animation, transparency and turning of their own."""
    found = kind(data)
    if found == "gif":
        return _first_frame(data)
    if found == "png" and any(name == b"acTL" for name, _, _ in png_chunks(data)):
        parts = [data[start:end] for name, start, end in png_chunks(data) if name not in (b"acTL", b"fcTL", b"fdAT")]
        return data[:8] + b"".join(parts)
    if found == "tiff":
        return _without_orders(data)
    return data


def _without_orders(tiff):
    """A TIFF file that says neither that it should be turned nor that its last sample is alpha to multiply with."""
    neutral = {_ORIENTATION: 1, _EXTRA_SAMPLES: 0}
    edits = [
        (form, position, neutral[tag])
        for tag, value, position, form in tiff_numbers(tiff)
        if tag in neutral and value != neutral[tag]
    ]
    changed = bytearray(tiff) if edits else tiff
    for form, position, value in edits:
        struct.pack_into(form, changed, position, value)
    return bytes(changed)


def _first_frame(gif):
    """A GIF file of the first frame alone, none of its colours transparent."""
    control = None
    for introducer, start, end in gif_blocks(gif):
        if introducer == b"!" and gif[start + 1] == 0xF9:
            control = start
        elif introducer == b",":
            frame = bytearray(gif[:end])
            if control is not None:
                frame[control + 3] &= 0xFE
            return bytes(frame) + b";"
    return gif
