"""What of a manifest needs trust: Python that it carries and what that could touch, variables, packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mlmodelscope.errors import ManifestError
from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.python_source import parse_python
from mlmodelscope.manifest.schema.recipe import without_hashes
from mlmodelscope.manifest.trust import Carried, code_digest, code_of

_KINDS = ("model", "dataset", "reproduction")
_TOUCHES = {
    "os": "the system",
    "shutil": "files",
    "pathlib": "files",
    "tempfile": "files",
    "glob": "files",
    "sys": "the interpreter",
    "importlib": "the interpreter",
    "builtins": "the interpreter",
    "gc": "the interpreter",
    "subprocess": "other programs",
    "multiprocessing": "other programs",
    "pty": "other programs",
    "signal": "other programs",
    "socket": "the network",
    "ssl": "the network",
    "http": "the network",
    "urllib": "the network",
    "urllib3": "the network",
    "requests": "the network",
    "httpx": "the network",
    "ftplib": "the network",
    "smtplib": "the network",
    "ctypes": "memory",
    "cffi": "memory",
    "mmap": "memory",
    "pickle": "code in data",
    "dill": "code in data",
    "marshal": "code in data",
    "joblib": "code in data",
}
_CALLS = {
    "eval": "code in data",
    "exec": "code in data",
    "compile": "code in data",
    "__import__": "the interpreter",
    "breakpoint": "the interpreter",
    "input": "the keyboard",
}
_WRITES = frozenset("wax+")
_SHOWN = 3


@rule("M110", "runs-code", "info", _KINDS, always=True)
def runs_code(subject: Subject) -> Iterator[Finding]:
    """Using this manifest runs Python code that it carries.

    The code can do whatever its user can do, so nothing of it runs before somebody has read it and said
    `mlmodelscope trust`. The digest names exactly this code: when a letter of it changes, it must be read again.

    Wrong:

        preprocess: |
          def preprocess(ctx, data):
            return ctx["images"][data]   # a step could do it

    Right:

        inputs:
          - type: image
            processing: {decode: , resize: {dimensions: [224, 224]}, layout: NCHW}
    """
    carried = [each for each in _carried(subject) if each.language == "Python"]
    if not carried or subject.manifest is None:
        return
    parts = [f"{each.stage} ({_where(subject, each)}, {_lines(each.code)})" for each in carried]
    place = subject.locate(_path(carried[0]))[0]
    if carried[0].line:
        place = (carried[0].line, 1)
    yield subject.finding_at(
        place,
        f"this manifest runs Python code: {', '.join(parts)}",
        carried[0].stage,
        f"`mlmodelscope show FILE` prints it; its digest is sha256:{code_digest(subject.manifest)}",
    )


@rule("M111", "code-reaches-out", "info", _KINDS, always=True)
def code_reaches_out(subject: Subject) -> Iterator[Finding]:
    """The carried code touches more than its data.

    It imports or calls something that reaches files, the network, other programs or memory. That may be right, a
    dataset must be read from somewhere; look at it before you trust it. That nothing is listed here proves nothing:
    Python has many ways round.

    Wrong:

        preprocess: |
          import requests
          def preprocess(ctx, data):
            return requests.get(data).content

    Right:

        preprocess: |
          import numpy as np
          def preprocess(ctx, data):
            return np.asarray(data, np.float32)
    """
    for each in (each for each in _carried(subject) if each.language == "Python"):
        found: dict[str, tuple[int, str]] = {}
        for line, word, touched in _reaches(each.code):
            found.setdefault(word, (line, touched))
        if found:
            listed = ", ".join(f"`{word}` ({touched})" for word, (_, touched) in found.items())
            first = min(line for line, _ in found.values())
            place = (each.line + first - 1, 1) if each.line else subject.locate(_path(each))[0]
            yield subject.finding_at(place, f"the code of `{each.stage}` uses {listed}", each.stage)


@rule("M113", "needs-trust", "info", ("model", "software"), always=True)
def needs_trust(subject: Subject) -> Iterator[Finding]:
    """Variables, packages or a container image of this manifest need trust.

    A variable can tell a library what to load, a package runs code when it is built or imported, and an image is a
    program. Without trust a manifest may set switches and numbers of math libraries and frameworks, and name packages
    with a version and hashes that a shipped stack has too. Anything else is refused until you say `mlmodelscope trust`,
    or `--trust` for one command. An image that a model names is left out: a stack comes before it.

    Wrong:

        envvars: {LD_PRELOAD: /opt/faster.so}

    Right:

        envvars: {OMP_NUM_THREADS: "4"}
    """
    for each in _carried(subject):
        if each.language == "Python" or subject.manifest is None:
            continue
        lines = each.code.splitlines()
        shown = ", ".join(f"`{without_hashes(line)[:80]}`" for line in lines[:_SHOWN])
        more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        yield subject.finding(
            (each.stage,),
            f"`{each.stage}` of this manifest needs trust: {shown}{more}",
            f"`mlmodelscope trust FILE` or `--trust` allows it; its digest is sha256:{code_digest(subject.manifest)}",
        )
    if subject.kind == "software" and subject.software.stack is None:
        images = [image for each in subject.software.container.values() for image in (each.cpu, each.gpu) if image]
        if images:
            yield subject.finding(
                ("container",),
                f"an image of this manifest needs trust, unless the running Python has what it asks for: `{images[0]}`",
                "`--trust` allows it for one command; `--stack image:NAME` names it yourself",
            )


def _carried(subject: Subject) -> list[Carried]:
    try:
        return code_of(subject.manifest) if subject.manifest is not None else []
    except ManifestError:  # a file is missing, which another rule reports
        return []
    except ValueError:  # an empty `setup` is code to the schema and none to a function
        return []


def _path(carried: Carried) -> tuple[str, ...]:
    """Where the code is named; of a reproduction it stands under one of its two sides."""
    side, colon, _ = carried.stage.partition(": ")
    return (side, "code") if colon else (carried.stage,)


def _reaches(code: str) -> Iterator[tuple[int, str, str]]:
    try:
        tree = parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from _module(node.module, node.lineno)
        elif isinstance(node, ast.Call):
            yield from _call(node)


def _module(name: str, line: int) -> Iterator[tuple[int, str, str]]:
    top = name.partition(".")[0]
    if top in _TOUCHES:
        yield line, name, _TOUCHES[top]


def _call(node: ast.Call) -> Iterator[tuple[int, str, str]]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _CALLS:
        yield node.lineno, f"{name}()", _CALLS[name]
    if name == "open":
        mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
        if mode is not None and not (isinstance(mode, ast.Constant) and not _WRITES & set(str(mode.value))):
            yield node.lineno, "open() for writing", "files"


def _where(subject: Subject, carried: Carried) -> str:
    return f"line {carried.line or subject.locate(_path(carried))[0][0]}"


def _lines(code: str) -> str:
    count = len(code.strip().splitlines())
    return f"{count} line{'s' if count != 1 else ''}"
