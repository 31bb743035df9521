"""Namespaces of their own for a process: bubblewrap, and whether this machine allows it."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

APART = (
    *("--die-with-parent", "--new-session", "--unshare-all", "--hostname", "worker"),
    *("--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"),
)
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of the system that programs are made of."""
_TIMEOUT_S = 20


@cache
def why_not() -> str | None:
    """Why a process cannot be confined on this machine; nothing where it can."""
    tool = shutil.which("bwrap")
    if tool is None:
        return "bubblewrap is not installed"
    try:
        done = subprocess.run(
            [tool, *APART, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr.strip() or f"bwrap ended with {done.returncode}")
