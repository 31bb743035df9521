"""Fixing a manifest: edits that touch nothing else, kept only where the result means the same or is better."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.finding import Edit, Finding
from mlmodelscope.lint.subject import Subject

_ROUNDS = 5
_BOM = b"\xef\xbb\xbf"
_ABOUT = {"M014": "framework", "M020": "container"}
"""Keys that a rule's fix changes on purpose; all others must mean the same afterwards."""


@dataclass(frozen=True)
class Mended:
    """A text after its fixes, with what was fixed and what is left to say."""

    text: str
    applied: tuple[Finding, ...]
    subject: Subject
    left: list[Finding]


def mend(subject: Subject, findings: list[Finding], codes: Collection[str] | None = None) -> Mended:
    """Apply every fix that makes the manifest better; `codes` are the rules whose fixes are wanted."""
    state = Mended(subject.text, (), subject, findings)
    for _ in range(_ROUNDS):  # a mended word may show the next one
        fixable = [found for found in state.left if found.fix and (codes is None or found.code in codes)]
        after = _try(state, _apart(fixable))
        if after is None:
            after = state
            for found in fixable:
                again = next((each for each in after.left if _same(each, found)), None)
                after = (_try(after, [again]) if again is not None else None) or after
        if after is state:
            break
        state = after
    spelt = any(found.code == "M001" for found in state.applied)
    hopeless = spelt and len(state.subject.problems) >= len(subject.problems)
    return Mended(subject.text, (), subject, findings) if hopeless else state


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def write_text(path: Path, text: str) -> None:
    """Replace a file's content in one step; its mode stays, a link stays a link, a byte order mark stays."""
    path = Path(os.path.realpath(path))
    temporary = None
    try:
        mark = _BOM if path.read_bytes()[:3] == _BOM else b""
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(mark + text.encode())
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise MLModelScopeError(f"cannot write {path}: {error.strerror or error}") from None


def _try(state: Mended, chosen: list[Finding]) -> Mended | None:
    if not chosen:
        return None
    text = apply_edits(state.text, [edit for found in chosen for edit in found.fix])
    subject, left = check_text(text, state.subject.file, state.subject.folder)
    if not _is_better(state, subject, left, chosen):
        return None
    return Mended(text, (*state.applied, *chosen), subject, left)


def _is_better(state: Mended, subject: Subject, left: list[Finding], chosen: list[Finding]) -> bool:
    before = state.subject
    if subject.unreadable or subject.kind != before.kind:
        return False
    if before.manifest is None or subject.manifest is None:
        gone = not any(_same(found, each) for found in chosen for each in left)
        # A word that is spelt right shows what stands behind it; that is fine if it can be mended as well.
        shown = all(
            found.fix for found in left if found.code == "M001" and not any(_same(found, e) for e in state.left)
        )
        return gone and (len(subject.problems) < len(before.problems) or shown)
    old, new = Counter(found.code for found in state.left), Counter(found.code for found in left)
    fewer = all(new[code] < old[code] for code in {found.code for found in chosen})
    return fewer and new <= old and _meaning(before, chosen) == _meaning(subject, chosen)


def _meaning(subject: Subject, chosen: list[Finding]) -> object:
    """What may not change: everything, except what the fix is about."""
    assert subject.manifest is not None
    about = {_ABOUT[found.code] for found in chosen if found.code in _ABOUT}
    return subject.manifest.model_dump(exclude=about) if about else subject.manifest.digest


def _apart(findings: list[Finding]) -> list[Finding]:
    """The findings whose edits do not touch those of one before."""
    taken: list[Edit] = []
    chosen = []
    for found in findings:
        if not any(edit.start < other.end and other.start < edit.end for edit in found.fix for other in taken):
            taken += found.fix
            chosen.append(found)
    return chosen


def _same(one: Finding, other: Finding) -> bool:
    return (one.code, one.line, one.message) == (other.code, other.line, other.message)
