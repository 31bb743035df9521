"""The functions of one side in a worker of their own; what crashes or hangs is one check's finding, not the end."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.reproduction_code import beside, code_texts
from mlmodelscope.manifest.schema import ReproductionManifest, SoftwareManifest
from mlmodelscope.manifest.schema.reproduction import Implementation
from mlmodelscope.plan.stack import misfits
from mlmodelscope.provision.stack.choose import build_stack
from mlmodelscope.provision.stack.current import CurrentStack, describe_current
from mlmodelscope.provision.stack.provisioner import Needs, Runnable
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.process import WorkerDied, WorkerProcess
from mlmodelscope_worker import messages

Reply = TypeVar("Reply")
_PACKAGES = {"numpy": "numpy", "pytorch": "torch", "tensorflow": "tensorflow", "jax": "jax"}


def software_of(manifest: ReproductionManifest, implementation: Implementation) -> SoftwareManifest | None:
    """The software manifest that a side names; a path in it begins in the reproduction's folder."""
    name = implementation.software
    if name is None or name == "current":
        return None
    if name.startswith("image:"):
        raise UsageError("a reproduction runs in a stack, not in a container image", hint="`mlmodelscope stacks`")
    is_path = name.endswith((".yml", ".yaml"))
    return find_manifest(SoftwareManifest, str(beside(manifest, name)) if is_path else name)


def stack_of(
    implementation: Implementation, software: SoftwareManifest | None, settings: Settings, watcher: Watcher
) -> Runnable:
    """The stack of a side: the running Python where it will do."""
    current = describe_current()
    if software is not None and (software.stack is None or misfits(software, current)):
        return build_stack(software, settings, watcher.building)
    package = _PACKAGES[implementation.framework]
    names = (package, f"{package}-cpu")
    if software is None and not any(name in current.packages for name in names):
        raise PlanError(
            f"the reproduction is written in {implementation.framework}, and this Python has no {package}",
            hint="name a stack that has it as `software`; `mlmodelscope stacks` lists them",
        )
    return CurrentStack()


class SideWorker:
    """A worker that is started when it is first asked, and again after it died."""

    def __init__(
        self, stack: Runnable, manifest: ReproductionManifest, side: str, folder: Path, timeout_s: float
    ) -> None:
        implementation: Implementation = getattr(manifest, side)
        own = folder / side
        own.mkdir()
        self._stack, self._timeout_s = stack, timeout_s
        self._needs = Needs(reads=_reads(manifest), writes=(folder,))
        texts = [[name, text] for name, text in code_texts(manifest, side)]
        self._begin = messages.BeginReproduction(texts, implementation.framework, given_of(manifest), str(own))
        self._process: WorkerProcess | None = None

    def ask(self, message: NamedTuple, expected: type[Reply]) -> Reply:
        """The worker's answer; WorkerDied where it crashed, or took longer than it may."""
        timed_out = threading.Event()

        def end(process: WorkerProcess) -> None:
            timed_out.set()
            process.kill()

        if self._process is None:
            self._process = WorkerProcess(self._stack, self._needs)
            self._process.send(self._begin)
            self._process.receive(messages.Recorded)
        process = self._process
        timer = threading.Timer(self._timeout_s, end, (process,))
        timer.daemon = True
        timer.start()
        try:
            process.send(message)
            return process.receive(expected)[0]
        except WorkerDied as error:
            self._process = None
            process.kill()
            if timed_out.is_set():
                raise WorkerDied(f"it did not end within {self._timeout_s:g} s") from None
            raise WorkerDied(error.message.splitlines()[0]) from None
        finally:
            timer.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.__exit__(kind, error, trace)


def given_of(manifest: ReproductionManifest) -> dict[str, Any]:
    """What the checks draw, for both sides alike."""
    names = ("inputs", "outputs", "targets", "predictions", "drawn_samples", "cases", "frozen", "batch_size", "seed")
    told = manifest.model_dump(mode="json", include=set(names))
    return {**told, "samples": [str(beside(manifest, each)) for each in manifest.samples]}


def _reads(manifest: ReproductionManifest) -> tuple[Path, ...]:
    weights = (manifest.original.weights,) if manifest.original.weights else ()
    return tuple(beside(manifest, each) for each in (*manifest.samples, *weights))
