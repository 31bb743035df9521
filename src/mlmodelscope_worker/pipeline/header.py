"""What an encoded image says about itself, read before any decoder allocates memory for it."""

import struct


class ImageError(ValueError):
    """This sample cannot be decoded; the message says why."""


def kind(data):
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
    if data[:4] in (b"II*\x00", b"MM\x00*"):
        return "tiff"
    return None


def size(data):
    """(height, width) from the header, or None where this format's header is not read here."""
    found = kind(data)
    try:
        if found == "png":
            width, height = struct.unpack(">II", data[16:24])
        elif found == "gif":
            width, height = struct.unpack("<HH", data[6:10])
        elif found == "bmp":
            width, height = struct.unpack("<ii", data[18:26])
        elif found == "webp":
            width, height = _webp_size(data)
        elif found == "jpeg":
            return _jpeg_size(data)
        else:
            return None
    except struct.error:
        raise ImageError("the file ends inside its %s header" % found)
    return abs(height), abs(width)


def _webp_size(data):
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_segments(data):
    """(marker, start, end) of each segment's content, up to the first scan."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        if marker == 0xDA or marker == 0xD9:
            return
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            at += 2
            continue
        (length,) = struct.unpack(">H", data[at + 2 : at + 4])
        yield marker, at + 4, at + 2 + length
        at += 2 + length


def _jpeg_size(data):
    for marker, start, _ in _jpeg_segments(data):
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return struct.unpack(">HH", data[start + 1 : start + 5])
    raise ImageError("the file ends before the JPEG header gives a size")


def refuse_bomb(data, max_pixels):
    """Refuse an image whose header promises more pixels than allowed."""
    found = size(data)
    if found is not None and found[0] * found[1] > max_pixels:
        raise ImageError("%d x %d pixels are more than the %d allowed" % (found[1], found[0], max_pixels))


def refuse_truncated(data):
    """Refuse a JPEG or PNG whose end is missing: some decoders would fill the rest with grey and say nothing.

    A JPEG's end marker must come after its last start-of-scan; an embedded thumbnail's own end marker does not count.
    """
    found = kind(data)
    if found == "jpeg" and data.rfind(b"\xff\xd9") < data.rfind(b"\xff\xda"):
        raise ImageError("the JPEG file is truncated")
    if found == "png" and data.rfind(b"IEND") < 0:
        raise ImageError("the PNG file is truncated")


def orientation(data):
    """The EXIF orientation, 1 to 8, of a JPEG, PNG or WebP file; 1 (upright) where there is none."""
    found = kind(data)
    block = None
    if found == "jpeg":
        for marker, start, end in _jpeg_segments(data):
            if marker == 0xE1 and data[start : start + 6] == b"Exif\x00\x00":
                block = data[start + 6 : end]
                break
    elif found == "png":
        at = data.find(b"eXIf")
        block = data[at + 4 :] if at > 0 else None
    elif found == "webp":
        at = data.find(b"EXIF")
        block = data[at + 8 :] if at > 0 else None
        if block and block[:6] == b"Exif\x00\x00":
            block = block[6:]
    return _tiff_orientation(block) if block else 1


def _tiff_orientation(block):
    order = {b"II": "<", b"MM": ">"}.get(bytes(block[:2]))
    if order is None:
        return 1
    try:
        (offset,) = struct.unpack(order + "I", block[4:8])
        (count,) = struct.unpack(order + "H", block[offset : offset + 2])
        for index in range(min(count, 512)):
            entry = block[offset + 2 + 12 * index : offset + 14 + 12 * index]
            tag, _, _, value = struct.unpack(order + "HHIH", entry[:10])
            if tag == 0x0112:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass  # a damaged EXIF block says nothing about orientation
    return 1
