"""A hardware manifest's setup commands: run on the machine itself, before anything else, and only when trusted."""

from __future__ import annotations

import subprocess

from mlmodelscope.errors import SetupError

_LIMIT_S = 600
_KEPT = 4000


def run_setup(script: str) -> str:
    """Run the commands; what they printed. The first that fails ends it, and with it the evaluation."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-e", "-u", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"the hardware's setup commands took longer than {_LIMIT_S} s") from None
    except OSError as error:
        raise SetupError(f"the hardware's setup commands cannot be run: {error.strerror}") from None
    output = done.stdout[-_KEPT:].strip()
    if done.returncode != 0:
        raise SetupError(
            f"the hardware's setup commands ended with exit code {done.returncode}" + (f"\n{output}" if output else ""),
            hint="they run with your own rights; settings such as the governor often need root",
        )
    return output
