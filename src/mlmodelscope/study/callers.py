"""Programs that call a model again and again when they are told to: Python in the stack, and C."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import mlmodelscope_worker
from mlmodelscope.errors import WorkerError
from mlmodelscope.study.bench import Bench, Tensor
from mlmodelscope.worker.client import needs_of, task_of

_HERE = Path(__file__).parent / "in_stack"
_COMPILERS = ("cc", "gcc", "clang")
_COMPILE_TIMEOUT_S = 120
_OPTIMISATION = {"disabled": 0, "basic": 1, "extended": 2, "all": 99}
# ONNX's number of each element type, and its bytes.
_ELEMENTS = {"float32": (1, 4), "uint8": (2, 1), "int8": (3, 1), "float16": (10, 2), "float64": (11, 8)}


class Missing(Exception):
    """Why there is no such caller here."""


@dataclass(frozen=True)
class Spent:
    """What each call took."""

    wall_ns: list[int]
    cpu_ns: list[int]


class Caller(Protocol):
    def take(self, tensor: Tensor, batch_size: int, folder: Path) -> None:
        """Get ready for a tensor, repeated to a batch."""
        ...

    def run(self, count: int) -> Spent: ...

    def answer(self, folder: Path) -> bytes:
        """What the model answers to it."""
        ...


class Program:
    """A process that answers one line with one line."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], folder: Path) -> None:
        self._said = folder / f"{Path(command[0]).name}-{len(list(folder.iterdir()))}.log"
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=environment,
                cwd=folder,
                text=True,
            )

    def ask(self, line: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            said = self._said.read_text(errors="replace").strip().splitlines()
            raise WorkerError(f"the program that calls the model ended: {said[-1] if said else 'it said nothing'}")
        return answer.strip()

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._process.kill()
        self._process.wait()


class PythonProcess:
    """Python in the plan's stack, with the model opened by the worker's own predictor."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        source = folder / "source"
        source.mkdir(exist_ok=True)
        package = Path(mlmodelscope_worker.__file__).parent.resolve()
        link = source / "mlmodelscope_worker"
        if not link.exists():
            link.symlink_to(package)
        task = folder / "task.json"
        task.write_text(json.dumps({"predictor": task_of(bench.site, bench.plan).predictor._asdict()}))
        needs = needs_of(bench.site, bench.plan)
        launch = bench.site.stack.launch(
            (str(_HERE / "calls.py"), str(task)),
            replace(
                needs,
                environment={**needs.environment, "PYTHONPATH": str(source)},
                reads=(*needs.reads, package, _HERE),
                writes=(*needs.writes, folder),
                folder=folder,
            ),
        )
        self._stop = launch.stop
        self._program = Program(launch.command, dict(launch.environment), folder)
        self.described = self.ask(do="describe")

    def ask(self, **request: Any) -> dict[str, Any]:
        reply: dict[str, Any] = json.loads(self._program.ask(json.dumps(request)))
        if "error" in reply:
            raise WorkerError(str(reply["error"]))
        return reply

    def take(self, tensor: Tensor, batch_size: int, folder: Path) -> bool:
        """Whether the framework takes Python's lists as they are; NumPy converts them where not."""
        path = write_batch(tensor, batch_size, folder)
        shape = [batch_size, *tensor.shape]
        return bool(self.ask(do="tensor", path=str(path), shape=shape, element_type=tensor.element_type)["takes_lists"])

    def close(self) -> None:
        self._program.close()
        if self._stop is not None:
            subprocess.run(self._stop, capture_output=True, check=False)


@contextmanager
def open_python(bench: Bench, folder: Path) -> Iterator[PythonProcess]:
    process = PythonProcess(bench, folder)
    try:
        yield process
    finally:
        process.close()


@dataclass(frozen=True)
class PythonCaller:
    """One of the forms in which Python hands a tensor over."""

    process: PythonProcess
    form: str
    output: int

    def take(self, tensor: Tensor, batch_size: int, folder: Path) -> None:
        """Nothing: the process has been given it."""

    def run(self, count: int) -> Spent:
        return Spent(**self.process.ask(do="run", form=self.form, count=count))

    def answer(self, folder: Path) -> bytes:
        path = folder / "answer-python"
        self.process.ask(do="answer", path=str(path), output=self.output)
        return path.read_bytes()


class CCaller:
    """A C program that calls the framework's C interface."""

    def __init__(self, bench: Bench, described: dict[str, Any], output: int, folder: Path) -> None:
        library = find_library(bench, described)
        program = compile_calls(folder)
        options = bench.plan.predictor.options
        arguments = (
            str(library),
            bench.site.model_files["graph"],
            str(options.get("threads", 1)),
            str(_OPTIMISATION[str(options.get("graph_optimization", "all"))]),
            described["inputs"][0]["name"],
            described["outputs"][output]["name"],
        )
        if described["outputs"][output]["element_type"] != "float32":
            raise Missing("the C program reads answers of float32 only")
        self._program = Program((str(program), *arguments), {**os.environ, **bench.plan.stack.environment}, folder)

    def take(self, tensor: Tensor, batch_size: int, folder: Path) -> None:
        if tensor.element_type not in _ELEMENTS:
            raise Missing(f"the C program does not know {tensor.element_type}")
        number, size = _ELEMENTS[tensor.element_type]
        shape = (batch_size, *tensor.shape)
        path = write_batch(tensor, batch_size, folder)
        self._ask(f"tensor {number} {size} {len(shape)} {' '.join(map(str, shape))} {path}")

    def run(self, count: int) -> Spent:
        numbers = [int(word) for word in self._ask(f"run {count}").split()]
        return Spent(numbers[::2], numbers[1::2])

    def answer(self, folder: Path) -> bytes:
        path = folder / "answer-c"
        self._ask(f"answer {path}")
        return path.read_bytes()

    def _ask(self, line: str) -> str:
        verdict, _, rest = self._program.ask(line).partition(" ")
        if verdict != "ok":
            raise WorkerError(f"the C program: {rest}")
        return rest

    def close(self) -> None:
        self._program.close()


def write_batch(tensor: Tensor, batch_size: int, folder: Path) -> Path:
    """One sample, again and again: rows lie one behind the other, so that a batch is its bytes repeated."""
    path = folder / f"batch-{batch_size}"
    path.write_bytes(tensor.content * batch_size)
    return path


def find_library(bench: Bench, described: dict[str, Any]) -> Path:
    """The library with the C interface, which the framework's own package brings."""
    if bench.plan.predictor.name != "onnxruntime":
        raise Missing(f"a C program is known for onnxruntime, not for {bench.plan.predictor.name}")
    if bench.plan.predictor.options.get("device", "cpu") != "cpu":
        raise Missing("the C program runs models on the CPU only")
    if bench.plan.stack.is_closed:
        raise Missing("the stack has a file system of its own, which no program from outside can run in")
    found = sorted((Path(described["onnxruntime"]).parent / "capi").glob("libonnxruntime.*"))
    libraries = [path for path in found if ".so" in path.name or path.suffix == ".dylib"]
    if not libraries:
        raise Missing("this onnxruntime's package has no library with a C interface; those of 1.19 and newer have one")
    return libraries[0]


def compile_calls(folder: Path) -> Path:
    """The C program, made with the compiler available."""
    names = (os.environ.get("CC", "").strip() or None, *_COMPILERS)
    compiler = next((path for name in names if name and (path := shutil.which(name))), None)
    if compiler is None:
        raise Missing(f"no C compiler is here ({', '.join(_COMPILERS)}, or $CC)")
    program = folder / "calls"
    command = (compiler, "-O2", "-o", str(program), str(_HERE / "calls.c"), "-ldl")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{compiler} cannot be used: {error}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise Missing(f"{compiler} failed: {lines[0]}")
    return program
