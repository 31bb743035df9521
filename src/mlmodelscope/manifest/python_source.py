"""Python that somebody wrote, as a syntax tree; nothing of it is run."""

from __future__ import annotations

import ast
import threading
import warnings

_LOCK = threading.Lock()
_ATTEMPTS = 10
_LONGEST = 1 << 17
"""Characters: a tree takes four hundred times as much memory."""


def parse_python(code: str) -> ast.Module:
    """Raises SyntaxError, ValueError, RecursionError or MemoryError for what is no Python, and nothing else.

    In Python 3.11 all threads count one depth of recursion together while trees are made, and a tree may fail because
    of another one. So ours are made one at a time, and again where another package's came in between.
    """
    if len(code) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST >> 10} KiB")
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a stranger's odd escape is no news of ours
        for _ in range(_ATTEMPTS):
            try:
                return ast.parse(code)
            except SystemError:
                continue
    raise RecursionError("too many syntax trees are being made at once")
