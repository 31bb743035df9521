"""Text files of any length, line by line: what is not text, or a line without an end, is an error that names it."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import DatasetError

LONGEST_LINE = 4 << 20
"""In bytes; a book has fewer."""


def lines_of(file: NamedFile, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
    """(number from 1, text) of each line, in UTF-8, with or without a byte-order mark."""
    refuse_folder(file)
    number = 0
    try:
        with file.path.open("rb", buffering=1 << 20) as opened:
            while raw := opened.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise DatasetError(f"line {number} of {file.name} is longer than {LONGEST_LINE >> 20} MiB")
                text = _decoded(raw, number, file)
                yield number, text if keep_ends else text.rstrip("\r\n")
    except OSError as error:
        raise DatasetError(f"cannot read {file.name}: {error.strerror or error}") from None
    if not number:
        raise DatasetError(f"{file.name} is empty")


def refuse_folder(file: NamedFile) -> None:
    if file.path.is_dir():
        raise DatasetError(f"{file.name} is a folder, and a file is needed", hint="name the file in it")


def refuse_half_characters(text: str, where: str) -> None:
    """JSON can write one half of a pair, which no encoding can carry any further."""
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise DatasetError(f"{where} holds half of a character (a lone surrogate)")


def _decoded(raw: bytes, number: int, file: NamedFile) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise DatasetError(f"line {number} of {file.name} is not UTF-8 text", hint="save it in this encoding") from None
    return text
