"""What a replication came to: of this process, or kept with the record and read again later.

A record may be asked about several claims, so each finding has a folder of its own, called by the digest of what it
says: `artifacts/findings/KEY`, with finding.json, flips.json, the page, and the pictures as PNG files. It travels in
the record's bundle. What is read here may have been written by a stranger's agent: it is bounded and checked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter, ValidationError

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.edits import PLUS, edits_of
from mlmodelscope.replicate.evidence_text import Abilities, evidence_lines
from mlmodelscope.replicate.export import to_json, to_junit, to_markdown
from mlmodelscope.replicate.finding import Finding, Flip
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.pitfall.explanation import explanation_of
from mlmodelscope.replicate.replication import Replication

PLACE = "artifacts/findings"
KEY = re.compile(r"[0-9a-f]{32}")
_PICTURE = re.compile(r"[0-9]{1,6}-(?:before|after|difference)\.png")
_PNG = b"\x89PNG\r\n\x1a\n"
_LARGEST = 64 << 20
_PAGE, _FINDING, _FLIPS, _DOCUMENT = "page.html", "finding.json", "flips.json", "replication.json"
_WIDTH = 100
_CAUSES = 10
_FLIP_LIST = TypeAdapter(tuple[Flip, ...])


def finding_of(done: Replication) -> Finding:
    return _split(done)[0]


def keep(done: Replication, store: Store) -> str:
    """Write it beside the record; the key by which it is found again."""
    from mlmodelscope.replicate.replication_page import render

    finding, flips, pictures = _split(done)
    text = finding.model_dump_json(indent=1)
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    place = store.folder(done.record.id) / PLACE / key
    if place.is_dir():
        return key
    files = {_FINDING: text, _FLIPS: json.dumps(_finite(flips)), _PAGE: render(done)}
    files |= {_DOCUMENT: json.dumps(to_json(done), default=str)}
    files |= {"junit.xml": to_junit(done), "summary.md": to_markdown(done)}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=store.folder(done.record.id), prefix="draft-"))
        try:
            for name, content in files.items():
                (draft / name).write_text(content, encoding="utf-8")
            for name, data in pictures.items():
                (draft / name).write_bytes(data)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        if not place.is_dir():  # else the same was found twice at the same moment
            raise StoreError(f"cannot keep what was found: {error.strerror}") from None
    return key


def _split(done: Replication) -> tuple[Finding, list[dict[str, Any]], dict[str, bytes]]:
    """(the finding, the samples that flipped, pictures by name)."""
    body = to_json(done)
    evidence = body.pop("evidence", None)
    flips: list[dict[str, Any]] = evidence.pop("flips") if evidence else []
    pictures: dict[str, bytes] = {}
    for number, flip in enumerate(flips):
        if "seen" in flip:
            flip["seen"] = _seen(flip["seen"], number, pictures)
    plan = done.record.plan
    body |= {"model": plan.model.reference, "dataset": plan.dataset.reference}
    body["said"] = done.said
    body["causes"] = [_cause(each, plan) for each in done.causes[:_CAUSES]]
    if done.evidence is not None:
        body |= {"evidence": evidence, "shown": list(evidence_lines(done.evidence, Abilities(width=_WIDTH)))}
    return Finding.model_validate(json.loads(json.dumps(body))), flips, pictures


def _finite(value: Any) -> Any:
    """JSON has no word for a number that is none."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cause(each: Candidate, plan: Plan) -> dict[str, Any]:
    variant = each.variant
    known = [PITFALLS[name] for name in variant.pitfalls if name in PITFALLS]
    return {
        "pitfalls": variant.pitfalls,
        "words": variant.words,
        "title": " and ".join(each.title for each in known) or " and ".join(variant.pitfalls),
        "explanation": "\n\n".join(filter(None, map(explanation_of, variant.pitfalls))),
        "edits": [{"sign": "+" if sign == PLUS else "-", "text": text} for sign, text in edits_of(plan, variant)],
    }


def _seen(seen: dict[str, Any], number: int, pictures: dict[str, bytes]) -> dict[str, Any]:
    apart = seen["difference"] or {}
    found: dict[str, Any] = {name: apart[name] for name in ("largest", "mean", "share") if name in apart}
    found["same"] = seen["same"]
    for name in ("before", "after", "difference"):
        head, _, data = ((seen[name] or {}).get("picture") or "").partition("base64,")
        if head.startswith("data:image/png"):
            found[name] = f"{number}-{name}.png"
            pictures[found[name]] = base64.b64decode(data)
    return found


class Outcome(Protocol):
    """What was found, wherever it is."""

    def finding(self) -> Finding: ...

    def document(self) -> dict[str, Any]:
        """All of it for programs."""
        ...

    def page(self) -> str: ...

    def text(self, name: Literal["junit.xml", "summary.md"]) -> str: ...


class Here:
    """A replication of this very process."""

    def __init__(self, done: Replication) -> None:
        self._done = done

    def finding(self) -> Finding:
        return finding_of(self._done)

    def document(self) -> dict[str, Any]:
        return to_json(self._done)

    def page(self) -> str:
        from mlmodelscope.replicate.replication_page import render

        return render(self._done)

    def text(self, name: Literal["junit.xml", "summary.md"]) -> str:
        return to_junit(self._done) if name == "junit.xml" else to_markdown(self._done)


class Findings:
    """What was found with a record, by its key."""

    def __init__(self, store: Store, record: str, key: str) -> None:
        if not KEY.fullmatch(key):
            raise UsageError(f"there is no finding `{key[:60]}`")
        self._place = store.folder(record) / PLACE / key

    def finding(self) -> Finding:
        try:
            return Finding.model_validate_json(self._bytes(_FINDING))
        except ValidationError:
            raise UsageError("there is no finding that can be read") from None

    def flips(self) -> tuple[Flip, ...]:
        try:
            return _FLIP_LIST.validate_json(self._bytes(_FLIPS))
        except ValidationError:
            raise UsageError("there is no list of samples that can be read") from None

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._bytes(_DOCUMENT))
        return found

    def page(self) -> str:
        return self._bytes(_PAGE).decode(errors="replace")

    def text(self, name: Literal["junit.xml", "summary.md"]) -> str:
        return self._bytes(name).decode(errors="replace")

    def picture(self, name: str) -> bytes:
        data = self._bytes(name) if _PICTURE.fullmatch(name) else b""
        if not data.startswith(_PNG):
            raise UsageError(f"there is no picture `{name[:60]}`")
        return data

    def _bytes(self, name: str) -> bytes:
        path = self._place / name
        try:
            if path.stat().st_size > _LARGEST:
                raise UsageError(f"there is no {name} of a size that is believable")
            return path.read_bytes()
        except OSError:
            raise UsageError(f"there is no {name} of this replication") from None
