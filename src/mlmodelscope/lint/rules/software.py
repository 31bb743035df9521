"""Stacks that are another one tomorrow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject

_LOCKED = re.compile(r"===?\s*[^*\s,;]+\s*(?:[;,\s]|$)")


@rule("M120", "unlocked-requirement", "warning", ("software",))
def unlocked_requirement(subject: Subject) -> Iterator[Finding]:
    """A package is not locked to a version.

    pip takes the newest that fits, so that the stack is another one every few weeks, and nobody can tell whether the
    model or the software made a difference.

    Wrong:

        stack:
          requirements: [numpy, torch>=2.1]

    Right:

        stack:
          requirements: [numpy==1.26.4, torch==2.1.2]
    """
    stack = subject.software.stack
    for index, text in enumerate(stack.requirements if stack else ()):
        requirement = text.partition("#")[0].strip()
        if not requirement or requirement.startswith("-") or " @ " in requirement or "://" in requirement:
            continue
        if not _LOCKED.search(requirement):
            yield subject.finding(("stack", "requirements", index), f"`{requirement[:80]}` is not locked by `==`")
