"""Where a process of ours finds modules: where this program does, and never in the folder that it happens to be in."""

from __future__ import annotations

import os
import sys


def import_path() -> str:
    """As the variable PYTHONPATH has it; this program may know more places than its own environment tells."""
    return os.pathsep.join(each for each in sys.path if each and os.pathsep not in each)


def environment() -> dict[str, str]:
    """This program's, with its import path; for `python -P`, which leaves the current folder out."""
    return {**os.environ, "PYTHONPATH": import_path()}
