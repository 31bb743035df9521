"""What the checks of a reproduction came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verdict = Literal["passed", "failed", "undecided", "skipped", "waits"]
Outcome = Literal["passed", "failed", "undecided"]
_CODES: Mapping[str, int] = {"passed": 0, "failed": 1, "undecided": 2}


@dataclass(frozen=True)
class CheckResult:
    """One check and its verdict."""

    check: str
    component: str
    verdict: Verdict
    words: str
    seed: int
    tolerance: float
    numbers: Mapping[str, Any] = field(default_factory=dict)
    waits_for: str | None = None
    """The check that failed, where this one cannot be judged before that is fixed."""
    wall_s: float = 0.0

    @property
    def shown_tolerance(self) -> str:
        return "rounding" if self.check == "fixed-weights" and not self.tolerance else f"{self.tolerance:g}"


@dataclass(frozen=True)
class Checked:
    """All checks of one reproduction."""

    name: str
    version: str
    digest: str
    code_digest: str | None
    framework: str
    original: str
    results: tuple[CheckResult, ...]

    @property
    def first_failed(self) -> CheckResult | None:
        """The one to fix first: no other that failed is among what it needs."""
        return next((each for each in self.results if each.verdict == "failed"), None)

    @property
    def outcome(self) -> Outcome:
        verdicts = [each.verdict for each in self.results]
        if "failed" in verdicts:
            return "failed"
        return "undecided" if "undecided" in verdicts or "passed" not in verdicts else "passed"

    @property
    def exit_code(self) -> int:
        return _CODES[self.outcome]

    @property
    def sentence(self) -> str:
        first = self.first_failed
        if first is not None:
            waiting = sum(each.verdict == "waits" for each in self.results)
            more = f"; {waiting} checks wait for it or for another that failed" if waiting else ""
            return f"fix the {first.component} first: {first.check}: {first.words}{more}"
        count = {verdict: sum(each.verdict == verdict for each in self.results) for verdict in ("passed", "skipped")}
        said = f"{count['passed']} of {len(self.results)} checks passed"
        open_ones = [each.check for each in self.results if each.verdict == "undecided"]
        said += f", {count['skipped']} skipped" if count["skipped"] else ""
        return said + (f"; undecided: {', '.join(open_ones)}" if open_ones else "")

    def to_json(self) -> dict[str, Any]:
        first = self.first_failed
        return {
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "code_digest": self.code_digest,
            "framework": self.framework,
            "original": self.original,
            "outcome": self.outcome,
            "sentence": self.sentence,
            "first_failed": first.check if first is not None else None,
            "component": first.component if first is not None else None,
            "checks": [asdict(each) for each in self.results],
        }
