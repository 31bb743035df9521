"""What cannot be read, or does not fit the schema. A word that misses a known one by a letter or two can be fixed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from mlmodelscope.errors import Problem
from mlmodelscope.lint.finding import Edit, Finding
from mlmodelscope.lint.near import only_near
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import DataPath, Subject
from mlmodelscope.manifest.source import Repeated, SourceMap
from mlmodelscope.manifest.write import spell_text

_PATH = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@rule("M000", "unreadable", "error")
def unreadable(subject: Subject) -> Iterator[Finding]:
    """The file cannot be read as YAML.

    Nothing can be said about a manifest that cannot be read: a bracket is missing, an indentation is off, a key stands
    twice with two values (a YAML library would silently keep one of them), or the file is not text at all.

    Wrong:

        name: resnet50
        description: A classifier.
        description: A classifier for ImageNet.

    Right:

        name: resnet50
        description: A classifier for ImageNet.
    """
    for problem in subject.unreadable:
        yield _finding(subject, problem)


@rule("M001", "schema", "error")
def schema(subject: Subject) -> Iterator[Finding]:
    """The manifest does not fit the schema.

    A key or value that is missing, unknown, or of the wrong type. An evaluation refuses such a manifest rather than
    guess, because a step that is silently left out changes every answer. A word that misses a known one by a letter or
    two is fixed by `--fix`, unless it may have been meant as it stands: a short value such as `RGBA` stays.

    Wrong:

        inputs:
          - type: image
            processing:
              resise: {dimensions: [224, 224]}

    Right:

        inputs:
          - type: image
            processing:
              resize: {dimensions: [224, 224]}
    """
    for problem in subject.problems:
        yield replace(_finding(subject, problem), fix=_mend(subject, problem))


@rule("M002", "repeated-key", "warning")
def repeated_key(subject: Subject) -> Iterator[Finding]:
    """A key stands twice, and means one thing nevertheless.

    One of the two is empty, both say the same, or they are blocks that contradict each other nowhere. The manifest is
    read as one would expect, but YAML forbids it, and other programs refuse the file or keep one of the two. `--fix`
    takes the superfluous one away.

    Wrong:

        model:
          graph_path: net.pb
          is_archive: false
          is_archive:

    Right:

        model:
          graph_path: net.pb
          is_archive: false
    """
    for each in subject.written.repeated:
        message = f"the key `{each.key[:60]}` stands here a second time (first in line {each.first[0]})"
        yield subject.finding_at(each.second, message, fix=_without(subject.text, each))


def _without(text: str, repeated: Repeated) -> tuple[Edit, ...]:
    """Takes the lines of one entry away; nothing where other things stand on them."""
    if repeated.superfluous is None:
        return ()
    start, end = repeated.superfluous
    first = text.rfind("\n", 0, start) + 1
    last = end if text[:end].endswith("\n") else text.find("\n", end) + 1 or len(text)
    behind = text[end:last].strip()
    if text[first:start].strip() or (behind and not behind.startswith("#")):
        return ()
    return (Edit(first, last, ""),)


def _finding(subject: Subject, problem: Problem) -> Finding:
    found = subject.finding_at((problem.line, problem.column), problem.message, problem.path, problem.hint)
    return replace(found, known=problem.known)


def _mend(subject: Subject, problem: Problem) -> tuple[Edit, ...]:
    path = _parse_path(problem.path)
    if not problem.known or not path:
        return ()
    if problem.message.startswith("unknown") or ": unknown" in problem.message:
        return _mend_key(subject, problem, path)
    return _mend_value(subject, problem, path)


def _mend_key(subject: Subject, problem: Problem, path: DataPath) -> tuple[Edit, ...]:
    holder, key = next(
        ((holder, key) for holder, key, _ in subject.entries if holder.places[key] == (problem.line, problem.column)),
        (SourceMap(), ""),
    )
    if not key:  # a bare word in a list of steps
        word = str(path[-1]) if isinstance(path[-1], str) else ""
        start = subject.offset((problem.line, problem.column))
        word = word or (re.match(r"\w+", subject.text[start : start + 60]) or [""])[0]
        new = only_near(word, problem.known)
        return subject.edit_key((problem.line, problem.column), word, new) if word and new else ()
    # A step's unknown parameter is told at its step: the word itself stands in the path or the message.
    if f"`{key}`" not in problem.message:
        inner = holder.get(key)
        named = next((word for word in re.findall(r"`([^`]*)`", problem.message)[::-1]), "")
        if not isinstance(inner, SourceMap) or named not in inner:
            return ()
        holder, key = inner, named
    new = only_near(key, problem.known)
    if new is None or new in holder:
        return ()
    return subject.edit_key(holder.places[key], key, new)


def _mend_value(subject: Subject, problem: Problem, path: DataPath) -> tuple[Edit, ...]:
    for holder, key, _ in subject.entries:
        if holder.places[key] == (problem.line, problem.column) and isinstance(holder[key], str):
            if not problem.message.endswith("values") or f"`{holder[key]}`" not in problem.message:
                return ()
            new = only_near(holder[key], problem.known, is_value=True)
            return (Edit(*holder.spans[key], spell_text(new)),) if new and key in holder.spans else ()
    return ()


def _parse_path(text: str) -> DataPath:
    return tuple(int(match[1]) if match[1] else match[2] for match in _PATH.finditer(text))
