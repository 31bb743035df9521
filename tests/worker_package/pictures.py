"""Pictures of every kind, made here: what a decoder meets in the wild, and what no camera would write."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image as PIL

from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.image import Image


def scene(height: int = 47, width: int = 61) -> np.ndarray:
    """Waves with some grain: neither flat nor pure noise, like a photograph; odd sides find off-by-one mistakes."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / 7.0 + phase) * np.cos(y / (5.0 + phase)) for phase in range(3)]
    grain = np.random.default_rng(7).integers(-9, 10, (height, width, 3))
    return np.clip(127 + 100 * np.stack(waves, axis=2) + grain, 0, 255).astype(np.uint8)


def encode(picture: Any, kind: str, **options: Any) -> bytes:
    """A picture (an array, or one of Pillow's) as a file."""
    out = io.BytesIO()
    (PIL.fromarray(picture) if isinstance(picture, np.ndarray) else picture).save(out, kind, **options)
    return out.getvalue()


def jpeg(picture: Any = None, quality: int = 90, **options: Any) -> bytes:
    return encode(scene() if picture is None else picture, "JPEG", quality=quality, **options)


def see(data: bytes) -> np.ndarray:
    """What Pillow itself shows for a file, as RGB."""
    return np.asarray(PIL.open(io.BytesIO(data)).convert("RGB"))


def run(step: str, value: Any, parameters: Any = None) -> Image:
    """One step as a manifest would name it."""
    declaration = STEPS[step]
    return declaration.function(value, **declaration.resolve(parameters))


def decode(data: bytes, **parameters: Any) -> np.ndarray:
    return np.asarray(run("decode", data, parameters).array)


# Files written by hand, for sizes and tags that no library would write.


def png_chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int, height: int, rows: bytes, depth: int = 8, color: int = 2) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    body = png_chunk(b"IHDR", head) + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def tiff(
    width: int, height: int, body: bytes, *more: tuple[int, int, int], order: str = "<", big: bool = False
) -> bytes:
    """An uncompressed RGB TIFF whose directory stands before its pixels; `more` are (tag, type, value)."""
    known = {256: (4, width), 257: (4, height), 258: (3, 8), 259: (3, 1), 262: (3, 2), 277: (3, 3), 278: (4, height)}
    known |= {tag: (kind, value) for tag, kind, value in more}
    entries = sorted([*known.items(), (273, (4, 0)), (279, (4, len(body)))])
    head, length = ("HHQ", 20) if big else ("HHI", 12)
    start = 16 if big else 8
    end = start + (8 if big else 2) + length * len(entries) + (8 if big else 4)
    data = b"II" if order == "<" else b"MM"
    data += struct.pack(order + "HHHQ", 43, 8, 0, start) if big else struct.pack(order + "HI", 42, start)
    data += struct.pack(order + ("Q" if big else "H"), len(entries))
    for tag, (kind, value) in entries:
        packed = struct.pack(order + {1: "B", 3: "H", 4: "I"}[kind], end if tag == 273 else value)
        data += struct.pack(order + head, tag, kind, 1) + packed.ljust(8 if big else 4, b"\0")
    return data.ljust(end, b"\0") + body


def gif(width: int, height: int, frame: tuple[int, int, int, int], *extensions: bytes) -> bytes:
    """A GIF of four colours with one frame (left, top, width, height) whose pixels are all colour 1."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81, 0, 0) + bytes(range(0, 240, 20))
    pixels = frame[2] * frame[3]
    # After each pixel a clear code: the codes never grow beyond three bits.
    bits = "".join(f"{code:03b}"[::-1] for code in [code for _ in range(min(pixels, 4096)) for code in (4, 1)] + [5])
    packed = bytes(int(bits[at : at + 8].ljust(8, "0")[::-1], 2) for at in range(0, len(bits), 8))
    blocks = b"".join(
        bytes([len(part)]) + part for part in (packed[at : at + 255] for at in range(0, len(packed), 255))
    )
    return head + b"".join(extensions) + b"," + struct.pack("<HHHHB", *frame, 0) + b"\x02" + blocks + b"\0;"


def bombs(side: int = 30000) -> dict[str, bytes]:
    """Small files whose headers promise `side` x `side` pixels."""
    small = encode(scene(8, 8), "WEBP", lossless=True)
    canvas = bytes(4) + (side - 1).to_bytes(3, "little") * 2
    extended = b"VP8X" + struct.pack("<I", 10) + canvas + small[12:]
    photo = jpeg(scene(8, 8))
    frame = photo.index(b"\xff\xc0") + 5
    bitmap = encode(scene(8, 8), "BMP")
    return {
        "png": png(side, side, b"\0"),
        "jpeg": photo[:frame] + struct.pack(">HH", side, side) + photo[frame + 4 :],
        "gif": gif(side, side, (0, 0, 8, 8)),
        "gif whose frame is larger than its screen": gif(8, 8, (0, 0, side, side)),
        "bmp": bitmap[:18] + struct.pack("<ii", side, -side) + bitmap[26:],
        "webp": b"RIFF" + struct.pack("<I", 4 + len(extended)) + b"WEBP" + extended,
        "tiff": tiff(side, side, b"\0" * 64),
        "tiff, big-endian": tiff(side, side, b"\0" * 64, order=">"),
        "BigTIFF": tiff(side, side, b"\0" * 64, big=True),
        "tiff of one enormous tile": tiff(8, 8, b"\0" * 192, (322, 4, side), (323, 4, side)),
        "pnm": b"P6\n# a comment\n%d %d\n255\n" % (side, side) + b"\0" * 64,
    }
