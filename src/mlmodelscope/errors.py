"""Every failure we expect, in one tree.

MLModelScopeError            anything we foresaw; the CLI prints it without a traceback
├── UsageError               a wrong request: unknown name, impossible combination of options   (exit code 2)
│   └── LimitError           to read what somebody sent would take more time, memory or space than it may
├── ManifestError            what the author wrote cannot be right; carries file, line, column
├── VersionError             not a version, or not a version constraint
├── PlanError                the request cannot be met; says by which constraint
├── TrustError               other people's code would have to run, and nobody said that it may
├── PluginError              an installed package adds something that cannot be used
├── StackError               a software stack cannot be found or built
├── SetupError               the machine could not be set up as its manifest says
├── ArtifactError            a file could not be fetched, opened or trusted
│   ├── ChecksumError        the bytes are not the ones that were promised
│   └── OfflineError         the network would be needed and may not be used
├── DatasetError             samples or labels cannot be read as the manifest says
├── InputError               what a model is asked about cannot be read, or the model has no answer to it
├── WorkerError              the worker process refused, crashed or was killed
├── MetricError              a metric cannot be computed, for example from no data
└── StoreError               records cannot be written or read
"""

from __future__ import annotations

from dataclasses import dataclass


class MLModelScopeError(Exception):
    """A foreseen failure: a message for a tired person, and a hint where there is one."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n\nhint: {self.hint}" if self.hint else self.message


class UsageError(MLModelScopeError):
    exit_code = 2


class LimitError(UsageError):
    pass


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a manifest, and where."""

    message: str
    path: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    known: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        text = f"{self.message}{where}  ({self.place})" if self.place else f"{self.message}{where}"
        if self.known:
            text += f"\nknown: {', '.join(self.known)}"
        if self.hint:
            text += f"\n\nhint: {self.hint}"
        return text


class ManifestError(MLModelScopeError):
    """One or more problems in a manifest; all of them are shown at once."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("\n\n".join(str(problem) for problem in problems))


class VersionError(MLModelScopeError):
    pass


class PlanError(MLModelScopeError):
    pass


class TrustError(MLModelScopeError):
    pass


class PluginError(MLModelScopeError):
    pass


class StackError(MLModelScopeError):
    pass


class SetupError(MLModelScopeError):
    pass


class ArtifactError(MLModelScopeError):
    pass


class ChecksumError(ArtifactError):
    pass


class OfflineError(ArtifactError):
    pass


class DatasetError(MLModelScopeError):
    pass


class InputError(MLModelScopeError):
    pass


class WorkerError(MLModelScopeError):
    pass


class MetricError(MLModelScopeError):
    pass


class StoreError(MLModelScopeError):
    pass
