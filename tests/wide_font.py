"""A font for tests of the layout: every character is as wide as a wide one, whatever fonts the machine has.

Text in Verdana or DejaVu Sans is about 0.6 of its height wide for each character, bold about 0.68, and narrow fonts
0.45. What fits with 0.72 fits with any of them, and it fits the same on every machine. The font goes to the browser by
fontconfig, which is told of no other, so that pages need not be touched and their policies stay as they are.
"""

import struct
from pathlib import Path
from xml.sax.saxutils import escape

EM = 1000
WIDTH = 720
NOTHING, BOX, SPACE = 0, 1, 2
# Firsts and lasts of characters, and the glyph that all of them have.
CHARACTERS = [(0x20, 0x20, SPACE), (0x21, 0x9F, BOX), (0xA0, 0xA0, SPACE), (0xA1, 0x2FFF, BOX), (0x1F300, 0x1FAFF, BOX)]

CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <cachedir>{folder}/cache</cachedir>
</fontconfig>
"""


def write_fonts(folder: Path) -> Path:
    """Write the font and what tells fontconfig of it; the answer is the value of FONTCONFIG_FILE."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wide.ttf").write_bytes(make_font())
    configuration = folder / "fonts.conf"
    configuration.write_text(CONFIGURATION.format(folder=escape(str(folder))), encoding="utf-8")
    return configuration


def make_font() -> bytes:
    """A TrueType font of three glyphs: none, a box, and a space, all of one width."""
    outline = _outline()
    tables = {
        b"OS/2": _os2(),
        b"cmap": _cmap(),
        b"glyf": outline,
        # The place of each glyph, and where the last one ends: only the box has an outline.
        b"loca": struct.pack(">4I", 0, 0, len(outline), len(outline)),
        b"head": struct.pack(">IIIIHHqqhhhhHHhhh", 1 << 16, 0, 0, 0x5F0F3CF5, 3, EM, 0, 0, *_BOX, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">IhhhHhhhhhh4hhH", 1 << 16, 800, -200, 0, WIDTH, 0, 0, WIDTH, 1, 0, 0, *[0] * 4, 0, 3),
        b"hmtx": struct.pack(">HhHhHh", WIDTH, 0, WIDTH, _BOX[0], WIDTH, 0),
        b"maxp": struct.pack(">I14H", 1 << 16, 3, 4, 1, 0, 0, 2, *[0] * 8),
        b"name": _name({1: "Wide", 2: "Regular", 4: "Wide Regular", 6: "Wide-Regular"}),
        b"post": struct.pack(">IIhhIIIII", 3 << 16, 0, -100, 50, 1, 0, 0, 0, 0),
    }
    place = 12 + 16 * len(tables)
    directory, bodies = b"", b""
    for tag, table in sorted(tables.items()):
        padded = table + bytes(-len(table) % 4)
        directory += tag + struct.pack(
            ">III", sum(struct.unpack(f">{len(padded) // 4}I", padded)) % 2**32, place, len(table)
        )
        bodies += padded
        place += len(padded)
    return struct.pack(">IHHHH", 1 << 16, len(tables), 128, 3, 16 * len(tables) - 128) + directory + bodies


_BOX = (60, 0, 660, 700)  # left, bottom, right, top


def _outline() -> bytes:
    left, bottom, right, top = _BOX
    ends_and_no_program = struct.pack(">HH", 3, 0)
    flags = bytes([1] * 4)  # on the curve, coordinates in two bytes
    across = struct.pack(">4h", left, 0, right - left, 0)
    up = struct.pack(">4h", bottom, top - bottom, 0, bottom - top)
    outline = struct.pack(">hhhhh", 1, *_BOX) + ends_and_no_program + flags + across + up
    return outline + bytes(-len(outline) % 4)


def _cmap() -> bytes:
    # Form 13 gives one glyph to each range of characters, form 12 would give a glyph to each character.
    groups = b"".join(struct.pack(">III", *each) for each in CHARACTERS)
    table = struct.pack(">HHIII", 13, 0, 16 + len(groups), 0, len(CHARACTERS)) + groups
    return struct.pack(">HHHHI", 0, 1, 3, 10, 12) + table


def _name(names: dict[int, str]) -> bytes:
    texts, records = b"", b""
    for kind, text in names.items():
        encoded = text.encode("utf-16-be")
        records += struct.pack(">HHHHHH", 3, 1, 0x409, kind, len(encoded), len(texts))
        texts += encoded
    return struct.pack(">HHH", 0, len(names), 6 + len(records)) + records + texts


def _os2() -> bytes:
    beginning = struct.pack(">HhHHH", 3, WIDTH, 400, 5, 0)
    scripts_and_strikeout = struct.pack(">10h", 650, 600, 0, 75, 650, 600, 0, 350, 50, 250)
    class_and_panose = struct.pack(">h10B", 0, 2, 11, 5, *[0] * 7)
    ranges = struct.pack(">4I4s", 3, 0, 0, 0, b"TEST")
    characters = struct.pack(">HHH", 0x40, 0x20, 0xFFFF)
    heights = struct.pack(">hhhHH", 800, -200, 0, 800, 200)
    code_pages = struct.pack(">II", 1, 0)
    rest = struct.pack(">hhHHH", 500, 700, 0, 0x20, 1)
    return beginning + scripts_and_strikeout + class_and_panose + ranges + characters + heights + code_pages + rest
