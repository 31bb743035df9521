"""Entries of sources in one compact file: a line of JSON about the sources, then one for each model, compressed.

The file is ours, but it lies on disks that others may write to: sizes are bounded, and damage is an error that says so.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.catalog.entry import Entry, as_data, from_data
from mlmodelscope.errors import StoreError

FORMAT = 1
SUFFIX = ".facts"
MAX_FILE_BYTES = 64 << 20
MAX_LINES = 1_000_000
_MOST_MEMORY = 256 << 20
_LONGEST_LINE = 4 << 20
SHIPPED = Path(__file__).parent / "facts" / f"shipped{SUFFIX}"


@dataclass(frozen=True)
class Source:
    """Where entries are from, exactly."""

    label: str
    """What stands before the colon of a model's name."""
    form: str
    origin: str
    """A folder, an address or a package, as it was given."""
    version: str
    """Commit, version of a package, or the digest of the files."""
    license: str = ""
    """Of the facts themselves."""
    models: int = 0
    claims: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How often something was left out, by reason."""
    digest: str = ""
    """Of the files that were read."""


def write_facts(sources: Iterable[tuple[Source, Iterable[Entry]]]) -> bytes:
    """The bytes of a file: the same for the same facts."""
    listed = [(source, list(entries)) for source, entries in sources]
    head = {"format": FORMAT, "sources": [asdict(source) for source, _ in listed]}
    lines = [_line(head)]
    for number, (_, entries) in enumerate(listed):
        lines += [_line([number, as_data(entry)]) for entry in entries]
    return lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@dataclass(frozen=True)
class Facts:
    """A file of facts that is open: what it is of, and its entries as they are asked for."""

    path: Path
    sources: tuple[Source, ...]

    def entries(self) -> Iterator[tuple[Source, Entry]]:
        for number, line in enumerate(_lines(self.path)):
            if not number:
                continue
            try:
                at, data = json.loads(line)
                yield self.sources[at], from_data(data)
            except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
                raise _damaged(self.path, f"line {number + 1}: {error}") from None


def open_facts(path: Path) -> Facts:
    """Read the first line; StoreError where the file is damaged or of another version."""
    try:
        head = json.loads(next(iter(_lines(path)), ""))
        if head["format"] != FORMAT:
            raise _damaged(path, f"it has the format {head['format']}, this version reads {FORMAT}")
        return Facts(path, tuple(Source(**source) for source in head["sources"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, str(error)) from None


def _lines(path: Path) -> Iterator[bytes]:
    """Lines of a compressed file, without more memory than one of them needs."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _damaged(path, f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
        with path.open("rb") as file, lzma.LZMAFile(file) as opened:
            for _ in range(MAX_LINES):
                line = opened.readline(_LONGEST_LINE)
                if not line:
                    return
                if len(line) == _LONGEST_LINE:
                    raise _damaged(path, "a line is too long")
                yield line
        raise _damaged(path, f"it has more than {MAX_LINES} lines")
    except (OSError, EOFError, lzma.LZMAError, MemoryError) as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(
        f"the facts in {path} cannot be used: {why}",
        hint="reinstall the package" if path == SHIPPED else f"mlmodelscope catalog update {path.stem}",
    )
