"""Rules by code. A rule is a generator over a subject; its docstring is its page, for `--explain` and the docs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from mlmodelscope.errors import UsageError
from mlmodelscope.lint.finding import Finding, Severity
from mlmodelscope.plugins.registry import Registry

if TYPE_CHECKING:
    from mlmodelscope.lint.subject import Subject

Check = Callable[..., Iterator[Finding]]

RULES: dict[str, Rule] = {}


@dataclass(frozen=True)
class Rule:
    """One thing that is looked for."""

    code: str
    name: str
    severity: Severity
    kinds: tuple[str, ...]
    """Kinds of manifest that it is about, which must fit the schema; empty where the written text is enough."""
    always: bool
    """Shown though it is an information only: what would be executed is nobody's small print."""
    quiet: bool
    """Said only to who asks for everything."""
    check: Check

    @property
    def page(self) -> str:
        """Its explanation: what and why, wrong, right."""
        return inspect.getdoc(self.check) or ""

    @property
    def summary(self) -> str:
        return self.page.partition("\n")[0]

    def run(self, subject: Subject) -> Iterator[Finding]:
        if self.kinds and (subject.manifest is None or subject.kind not in self.kinds):
            return
        with REGISTRY.blaming(self.code):
            for found in self.check(subject):
                yield replace(found, code=self.code, severity=found.severity or self.severity)


def _begins(letters: str, code: str) -> bool:
    """An entry point adds all codes that begin with its letters; those of one letter are ours."""
    return re.fullmatch(rf"{re.escape(letters)}\d+", code) is not None


REGISTRY: Registry[Rule] = Registry(
    "lint", "lints", RULES, Rule, attrgetter("check"), names="[A-Z]{2,4}", covers=_begins
)


def rule(
    code: str,
    name: str,
    severity: Severity,
    kinds: tuple[str, ...] = (),
    always: bool = False,
    quiet: bool = False,
) -> Callable[[Check], Check]:
    """Register a rule."""

    def register(check: Check) -> Check:
        if not re.fullmatch(r"[A-Z]{1,4}\d{3,4}", code):
            raise ValueError(f"`{code}` is not a code such as M012")
        if code in RULES:
            raise ValueError(f"the code {code} is taken by `{RULES[code].name}`")
        if not inspect.getdoc(check):
            raise ValueError(f"the rule {code} has no docstring, which would be its page")
        RULES[code] = Rule(code, name, severity, kinds, always, quiet, check)
        return check

    return register


_FORMER_NAMES = {"no-licence": "no-license"}
"""Names that rules had in earlier releases, which scripts still use."""


def find_rules(words: Iterable[str], option: str) -> set[str]:
    """Codes that are meant by codes, beginnings of codes, or names; UsageError where a word means none."""
    known = all_rules()
    found: set[str] = set()
    for word in words:
        name = _FORMER_NAMES.get(word.lower(), word.lower())
        meant = {each.code for each in known if each.code.startswith(word.upper()) or each.name == name}
        if not meant:
            for plugin in REGISTRY.plugins():  # one that is broken has no rules, and that is why
                if word.upper().startswith(plugin.name):
                    REGISTRY.load(plugin)
            raise UsageError(
                f"{option}: there is no rule `{word}`", hint="`mlmodelscope check --explain all` lists every rule"
            )
        found |= meant
    return found


def all_rules() -> list[Rule]:
    """Every rule that can be used, those of installed packages included, in the order of their codes."""
    from mlmodelscope.lint import rules  # noqa: F401  (registering is the point)

    found = REGISTRY.all()
    return [found[code] for code in sorted(found)]
