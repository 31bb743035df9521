"""The checks of a reproduction, in order: what failed is named before what depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from mlmodelscope.diff.reading import Reading
from mlmodelscope.errors import MLModelScopeError, TrustError, UsageError, WorkerError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.reproduction_code import beside
from mlmodelscope.manifest.schema import ReferenceLog, ReproductionManifest
from mlmodelscope.manifest.trust import code_digest
from mlmodelscope.provision.trust import require_trust
from mlmodelscope.reproduction import logs
from mlmodelscope.reproduction.fixed_weights import compare_readings, read_code, read_model
from mlmodelscope.reproduction.order import COMPONENTS, NEEDS, ORDER, TOLERANCES
from mlmodelscope.reproduction.result import Checked, CheckResult, Verdict
from mlmodelscope.reproduction.side_worker import SideWorker, software_of, stack_of
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.process import WorkerDied, shared_folder
from mlmodelscope_worker import messages

Told = tuple[Verdict, str, Mapping[str, Any]]
_FROM_ORIGINAL = ("parameters", "data", "loss", "metric", "step", "samples")
_WITH_WEIGHTS = ("step", "samples")


@dataclass(frozen=True)
class Conditions:
    settings: Settings
    watcher: Watcher
    trust: bool = False
    timeout_s: float = 300.0
    """Of one check."""
    seed: int | None = None
    """In place of the manifest's."""


def check_reproduction(
    source: str | Path | ReproductionManifest, checks: Sequence[str] = ORDER, conditions: Conditions | None = None
) -> Checked:
    """A verdict on every component of a reimplementation."""
    conditions = conditions or Conditions(Settings.from_environment(), Watcher())
    manifest = find_manifest(ReproductionManifest, source)
    if not manifest.mine.code and manifest.mine.log is None:
        raise UsageError(f"{manifest.reference} names neither code nor a log of mine: there is nothing to check")
    if conditions.seed is not None:
        code = manifest._texts
        manifest = manifest.model_copy(update={"seed": conditions.seed})
        manifest._texts.update(code)
    software = {side: software_of(manifest, getattr(manifest, side)) for side in ("mine", "original")}
    require_trust((manifest, *software.values()), conditions.settings, trust=conditions.trust)
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        sides: dict[str, SideWorker] = {}
        for name in ("mine", "original"):
            implementation = getattr(manifest, name)
            if implementation.code:
                stack = stack_of(implementation, software[name], conditions.settings, conditions.watcher)
                opened = SideWorker(stack, manifest, name, folder, conditions.timeout_s)
                sides[name] = held.enter_context(opened)
        bench = _Bench(manifest, conditions, folder, sides)
        results = _in_order(manifest, checks, bench.run)
    return Checked(
        manifest.name,
        manifest.version,
        manifest.digest,
        code_digest(manifest),
        manifest.mine.framework,
        _named(manifest),
        tuple(results),
    )


def _named(manifest: ReproductionManifest) -> str:
    original = manifest.original
    known = (original.model, original.code and "its code", original.repository, original.paper, original.log)
    return next((str(each) for each in known if each), "none")


def _in_order(
    manifest: ReproductionManifest, checks: Sequence[str], run: Callable[[str, float], Told]
) -> list[CheckResult]:
    results: dict[str, CheckResult] = {}
    for check in checks:
        tolerance = manifest.tolerances[check] if check in manifest.tolerances else TOLERANCES[check]
        started = time.monotonic()
        cause = _cause(check, results)
        if check in manifest.skip:
            told: Told = ("skipped", manifest.skip[check], {})
        elif cause is not None:
            told = ("waits", f"waits for {cause}", {})
        else:
            told = run(check, tolerance)
        verdict, words, numbers = told
        results[check] = CheckResult(
            check,
            COMPONENTS[check],
            verdict,
            words,
            manifest.seed,
            tolerance,
            numbers,
            cause if verdict == "waits" else None,
            time.monotonic() - started,
        )
    return list(results.values())


def _cause(check: str, results: Mapping[str, CheckResult]) -> str | None:
    """The first check that failed and that this one needs, directly or through others."""
    found = [results[needed] for needed in NEEDS[check] if needed in results]
    causes = [each.waits_for or each.check for each in found if each.verdict in ("failed", "waits")]
    return min(causes, key=ORDER.index, default=None)


class _Bench:
    """Both sides, and what the original was asked for already."""

    def __init__(
        self, manifest: ReproductionManifest, conditions: Conditions, folder: Path, sides: Mapping[str, SideWorker]
    ) -> None:
        self._manifest, self._conditions, self._folder = manifest, conditions, folder
        self._mine, self._original = sides.get("mine"), sides.get("original")
        self._written: dict[str, tuple[Path | None, Verdict, str]] = {}

    def run(self, check: str, tolerance: float) -> Told:
        self._conditions.watcher.building(f"checking {check}")
        if check == "curve":
            return self._curve(tolerance)
        if check == "numbers":
            return self._numbers(tolerance)
        if check == "samples" and (self._original is None or self._mine is None):
            return self._samples_of_logs(tolerance)
        if self._mine is None:
            return "skipped", "no code of mine is named", {}
        try:
            if check == "fixed-weights":
                return self._fixed_weights(self._mine, tolerance)
            return self._in_worker(self._mine, check, tolerance)
        except WorkerDied as error:
            return "failed", error.message, {}
        except WorkerError as error:
            return _refused(error.message)

    def _in_worker(self, mine: SideWorker, check: str, tolerance: float) -> Told:
        against, weights = None, None
        if check in _WITH_WEIGHTS and self._original is not None:
            weights, verdict, words = self._weights()
            if weights is None:
                return verdict, words, {}
        if check in _FROM_ORIGINAL and self._original is not None:
            against, verdict, words = self._record(check, weights)
            if against is None and verdict == "undecided":
                return verdict, f"the original: {words}", {}
        asked = messages.RunCheck(
            check, tolerance, str(against) if against else None, str(weights) if weights else None
        )
        found = mine.ask(asked, messages.Checked)
        return _verdict(found.verdict), found.words, found.numbers

    def _record(self, what: str, weights: Path | None = None) -> tuple[Path | None, Verdict, str]:
        """The file that the original wrote, or why there is none."""
        if what not in self._written:
            assert self._original is not None
            path = self._folder / f"{what}.npz"
            asked = messages.RecordOriginal(what, str(path), str(weights) if weights is not None else None)
            try:
                problem = self._original.ask(asked, messages.Recorded)
                why = problem.problem
                self._written[what] = (path, "passed", "") if why is None else (None, _verdict(why), problem.words)
            except WorkerError as error:
                self._written[what] = None, "undecided", error.message
        return self._written[what]

    def _weights(self) -> tuple[Path | None, Verdict, str]:
        """The weights that both sides get: pre-trained ones, or those that the original's seed gives it."""
        if self._manifest.original.weights is not None:
            return beside(self._manifest, self._manifest.original.weights), "passed", ""
        if self._original is None:
            return None, "skipped", "there is no original whose weights could be fixed: name its code, or `weights`"
        return self._record("weights")

    def _fixed_weights(self, mine: SideWorker, tolerance: float) -> Told:
        original, seed = self._manifest.original, self._manifest.seed
        if self._original is None and original.model is None:
            return "skipped", "no code and no model manifest of the original is named", {}
        weights, verdict, words = self._weights()
        if weights is None:
            return verdict, words, {}
        theirs: Reading
        try:
            if self._original is not None:
                theirs = read_code(self._original, self._folder, weights, None)
            else:
                assert original.model is not None
                conditions = self._conditions
                name = original.model
                path = str(beside(self._manifest, name)) if name.endswith((".yml", ".yaml")) else name
                theirs = read_model(
                    path,
                    self._folder,
                    self._manifest.batch_size,
                    seed,
                    conditions.settings,
                    conditions.watcher,
                    conditions.trust,
                )
        except TrustError:
            raise
        except MLModelScopeError as error:  # what is wrong with the original is none of mine
            return "undecided", f"the original: {error.message.splitlines()[0]}", {}
        return compare_readings(theirs, read_code(mine, self._folder, weights, theirs), self._folder, tolerance)

    def _log(self, side: str) -> ReferenceLog | None:
        name = getattr(self._manifest, side).log
        return find_manifest(ReferenceLog, beside(self._manifest, name)) if name is not None else None

    def _curve(self, tolerance: float) -> Told:
        mine, original = self._log("mine"), self._log("original")
        if mine is None or original is None:
            return "skipped", f"no log of {'mine' if mine is None else 'the original'} is named", {}
        return logs.judge_curve(mine, original, tolerance)

    def _samples_of_logs(self, tolerance: float) -> Told:
        mine, original = self._log("mine"), self._log("original")
        if mine is None or original is None:
            return "skipped", "neither code of both sides nor a log of both is named", {}
        return logs.judge_samples(mine, original, tolerance)

    def _numbers(self, tolerance: float) -> Told:
        mine, original = self._log("mine"), self._log("original")
        published = dict(self._manifest.original.numbers)
        if not published and original is not None:
            published = {name: each.value for name, each in original.metrics.items()}
        if mine is None:
            return "skipped", "no log of mine is named", {}
        return logs.judge_numbers(mine, published, tolerance)


def _refused(message: str) -> Told:
    """A worker's refusal begins with the verdict, where a check has one."""
    first = message.splitlines()[0]
    word, _, words = first.partition(": ")
    return (_verdict(word), words, {}) if word in ("failed", "skipped", "undecided") else ("failed", first, {})


def _verdict(word: str) -> Verdict:
    """A worker's word; one that this version does not know decides nothing."""
    return next((known for known in get_args(Verdict) if known == word), "undecided")
