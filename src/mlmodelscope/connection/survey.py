"""A folder compared with what a dataset's publisher has: what is missing and what is different, with names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.connection.expected import Seen, look
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.manifest.schema.connection import Connect, Layout
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.types import Checksum

SHOWN = 10
_TOGETHER = 256
_BLOCK = 512
_RECORD = 10_240
_STARTS = {
    "jpeg": (b"\xff\xd8\xff",),
    "png": (b"\x89PNG",),
    "picture": (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"BM", b"RIFF", b"II*\x00", b"MM\x00*"),
    "flac": (b"fLaC",),
    "wav": (b"RIFF",),
    "gzip": (b"\x1f\x8b",),
    "idx": (b"\x00\x00",),
}
_NOT_SEEN = "holds nothing of it"

Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Survey:
    """A layout that was looked for below a folder."""

    root: Path
    layout: Layout
    seen: tuple[Seen, ...]

    @property
    def found(self) -> int:
        return sum(len(each.found) for each in self.seen)

    @property
    def wanted(self) -> int:
        return sum(each.wanted for each in self.seen)

    @property
    def missing(self) -> int:
        return sum(len(each.missing) + each.uncounted for each in self.seen)

    @property
    def different(self) -> dict[str, str]:
        return {name: why for each in self.seen for name, why in each.different.items()}

    @property
    def is_complete(self) -> bool:
        return not self.missing and not self.different


def survey(folder: Path, connect: Connect) -> Survey:
    """The layout of which the most is there, in the folder or in one of the places below it."""
    best: Survey | None = None
    for place in ("", *connect.inside):
        root = folder / place
        if not root.is_dir():
            continue
        for layout in connect.layouts:
            found = Survey(root, layout, tuple(look(rule, root) for rule in layout.files))
            if best is None or _rank(found) > _rank(best):
                best = found
    if best is None:
        raise DatasetError(f"{folder} is not a folder")
    return best


def _rank(found: Survey) -> tuple[bool, float, int]:
    return found.is_complete, found.found / max(1, found.wanted), found.found


def check_contents(found: Survey, artifacts: ArtifactStore, progress: Progress) -> None:
    """Sizes, first bytes and checksums of what is there; what is different is noted in the survey."""
    total, done = sum(len(each.found) for each in found.seen), 0
    for each in found.seen:
        starts = _STARTS.get(each.rule.kind or "")
        sizes = 0
        for number, name in enumerate(each.found):
            size, why = _odd(found.root / name, starts, each.rule.size_bytes)
            sizes += _BLOCK + -(-size // _BLOCK) * _BLOCK
            if why:
                each.different.setdefault(name, why)
            if not number % _TOGETHER:
                progress("looking at files", done + number, total)
        done += len(each.found)
        if each.rule.tar_bytes is not None and not each.missing and not each.different:
            _compare_archive(each, sizes)
        if each.rule.checksum is not None and each.found and not each.different:
            _compare_checksum(each, found.root, artifacts)
    progress("looking at files", total, total)


def _odd(path: Path, starts: tuple[bytes, ...] | None, wanted: int | None) -> tuple[int, str]:
    """(its size, what is wrong with it)."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if wanted is not None and size != wanted:
                return size, f"{size:,} bytes, and it should have {wanted:,}"
            if not size:
                return size, "is empty"
            if starts is not None and not file.read(8).startswith(starts):
                return size, "is damaged: it does not begin as such a file does"
    except OSError as error:
        return 0, f"cannot be read: {error.strerror or error}"
    return size, ""


def _compare_archive(seen: Seen, sizes: int) -> None:
    """A tar archive has 512 bytes before each file and fills each up to 512, and itself up to 10,240."""
    wanted = seen.rule.tar_bytes or 0
    if not wanted - 2 * _RECORD < sizes <= wanted:
        seen.different[seen.rule.files] = (
            f"together they would fill {sizes:,} bytes of the publisher's archive, which has {wanted:,}: some of them "
            "are cut off, or were saved anew"
        )


def _compare_checksum(seen: Seen, root: Path, artifacts: ArtifactStore) -> None:
    wanted = Checksum.parse(seen.rule.checksum or "")
    for name in seen.found:
        digest = artifacts.digests([root / name], wanted.algorithm)[0]
        if digest != wanted.hex:
            seen.different[name] = f"its {wanted.algorithm} is {digest}, and it should be {wanted.hex}"


def refuse_incomplete(found: Survey, folder: Path, manifest: DatasetManifest) -> None:
    """The first ten of what is missing and of what is different, with how many there are."""
    if found.is_complete:
        return
    name = manifest.name
    hint = (
        f"`mlmodelscope datasets {name}` shows how to obtain it; the same command again reads only files that have "
        "changed"
    )
    if not found.found:
        looked = ", ".join(f"`{rule.files}`" for layout in _layouts(manifest) for rule in layout.files[:1])
        raise DatasetError(f"{folder} {_NOT_SEEN}: {name} would have files such as {looked}", hint=hint)
    parts = [
        f"{found.root} is not {name} as its publisher has it ({found.layout.name}): of {found.wanted:,} files "
        f"{found.missing:,} are missing, and {len(found.different):,} things are different"
    ]
    missing = [each for seen in found.seen for each in seen.missing]
    missing += [f"{seen.uncounted:,} more like {seen.rule.files}" for seen in found.seen if seen.uncounted]
    parts += _shown("missing", missing)
    parts += _shown("different", [f"{each}: {why}" for each, why in found.different.items()])
    raise DatasetError("\n".join(parts), hint=hint)


def _layouts(manifest: DatasetManifest) -> Sequence[Layout]:
    return manifest.connect.layouts if manifest.connect is not None else ()


def _shown(word: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    printable = [line if line.isprintable() else ascii(line) for line in lines[:SHOWN]]
    more = [f"  and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return [f"{word}:", *(f"  {line[:300]}" for line in printable), *more]
