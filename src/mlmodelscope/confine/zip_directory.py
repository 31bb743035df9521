"""How long a zip file's list of members is, before it is read: `zipfile` keeps all of it in memory."""

from __future__ import annotations

import zipfile
from typing import IO


class TooManyMembers(zipfile.BadZipFile):
    pass


def check_directory(file: IO[bytes], most_members: int, most_bytes: int) -> None:
    """BadZipFile where there is no such list, TooManyMembers where it is longer."""
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # exactly what ZipFile itself will believe
    if end is None:
        raise zipfile.BadZipFile("it is not a zip file")
    members, length = end[zipfile._ECD_ENTRIES_TOTAL], end[zipfile._ECD_SIZE]  # type: ignore[attr-defined]
    if members > most_members or length > most_bytes:
        raise TooManyMembers(f"more than {most_members:,} members, or {most_bytes:,} bytes of their names")
