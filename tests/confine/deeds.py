"""What the tests have confined processes do."""

import os
import re
import signal
from pathlib import Path

from mlmodelscope.confine.inside import is_confined
from mlmodelscope.errors import ChecksumError, ManifestError, Problem


class Particular(ChecksumError):
    """One that only its module knows."""


def echo(value: object) -> object:
    return value


def packed(length: int) -> bytes:
    return b"x" * length


def process() -> int:
    return os.getpid()


def think() -> None:
    re.search("^(a+)+$", "a" * 60 + "!")


def take(length: int) -> int:
    return len(bytearray(length))


def say(length: int) -> str:
    return "x" * length


def refuse(kind: str) -> None:
    if kind == "particular":
        raise Particular("not that one", hint="another")
    if kind == "manifest":
        raise ManifestError(Problem("unknown", "a.b", "x.yml", 3, 4, ("c", "d"), "did you mean `c`?"))
    raise KeyError(kind)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def wait() -> None:
    signal.pause()


def confined() -> bool:
    return is_confined()


def count_rows(path: str) -> int:
    """Of a Parquet file, which by itself is read in a process of its own."""
    from mlmodelscope.dataset.parquet import rows_of_parquet
    from mlmodelscope.dataset.sample import NamedFile

    return sum(1 for _ in rows_of_parquet(NamedFile(Path(path), "t.parquet"), None))
