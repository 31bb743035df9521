"""How the libraries of a record were built, in words, and in what two builds differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlmodelscope.record.record import BuildRecord, Record

_TITLES = {
    "version": "version",
    "compiler": "compiler",
    "flags": "flags",
    "blas": "BLAS",
    "onednn": "oneDNN",
    "openmp": "OpenMP",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "instruction_sets": "instruction sets needed",
    "dispatched": "further code for",
    "used": "instruction sets used",
    "options": "options",
}
_TELLING = re.compile(r"-(O|m|march|ffast|ffp|fno-math|funsafe|fopenmp|arch)")
UNKNOWN = "not known"
_LONG = 100


def build_rows(record: Record) -> list[tuple[str, str]]:
    """(library, how it was built) in one text for each library."""
    rows = []
    for library, build in _builds(record).items():
        facts = _spelled(build)
        told = [
            f"{_TITLES[name]} {text}"
            for name, whole in facts.items()
            if name not in ("version", "options") and (text := _told(name, whole))
        ]
        if not told and build.options:  # all that some libraries tell
            told = [", ".join(build.options)]
        if told:
            rows.append((f"{library} build", "; ".join(told)))
    return rows


def build_differences(records: Sequence[Record]) -> list[tuple[str, tuple[str, ...]]]:
    """(library and fact, what each record has) for each fact in which builds differ.

    Where a record was made before builds were read, nothing can be said. Of long texts the words are shown that not
    all of them have.
    """
    builds = [_builds(record) for record in records]
    if not all(builds):
        return []
    found: list[tuple[str, tuple[str, ...]]] = []
    for library in dict.fromkeys(name for each in builds for name in each):
        known = [each[library] for each in builds if library in each]
        if len(known) < len(builds):
            there = ("known" if library in each else UNKNOWN for each in builds)
            found.append((f"{library} build", tuple(there)))
            continue
        spelled = [_spelled(each) for each in known]
        found += [
            (f"{library} {title}", _apart(texts))
            for name, title in _TITLES.items()
            if len(set(texts := [each.get(name, "") for each in spelled])) > 1
        ]
    return found


def _builds(record: Record) -> dict[str, BuildRecord]:
    return dict(record.stack.builds) if record.stack is not None else {}


def _spelled(build: BuildRecord) -> dict[str, str]:
    values = {name: getattr(build, name) for name in _TITLES}
    return {name: text for name, value in values.items() if (text := _text(value))}


def _told(name: str, text: str) -> str:
    """Of all that a compiler was given, what its code depends on; the record has the rest."""
    return " ".join(each for each in text.split() if _TELLING.match(each)) if name == "flags" else text


def _text(value: str | tuple[str, ...] | None) -> str:
    return " ".join(value) if isinstance(value, tuple) else value or ""


def _apart(texts: Sequence[str]) -> tuple[str, ...]:
    if max(map(len, texts)) >= _LONG and all(texts):
        words = [text.split() for text in texts]
        common = set(words[0]).intersection(*words[1:])
        only = [" ".join(each for each in own if each not in common) for own in words]
        if any(only):  # else they have the same words in another order
            return tuple(each or "nothing further" for each in only)
    return tuple(text or UNKNOWN for text in texts)
