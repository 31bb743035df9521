"""One evaluation in a process of its own: work on standard input, events on standard output, a line of JSON each.

The end of standard input means that the agent which started it is gone: nobody waits for the answer, so it ends, too.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback

from mlmodelscope.cluster.events import Teller, say
from mlmodelscope.cluster.work import do
from mlmodelscope.errors import (
    ArtifactError,
    ChecksumError,
    MLModelScopeError,
    OfflineError,
    StoreError,
    WorkerError,
)
from mlmodelscope.ledger.request import Work
from mlmodelscope.settings import Settings

_TRANSIENT = (WorkerError, ArtifactError, StoreError)
"""Failures that may not happen again: a worker that died, a download, a database that is being restarted."""
_PERMANENT = (ChecksumError, OfflineError)


def main() -> None:
    work = Work.model_validate_json(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_agent, daemon=True).start()
    try:
        told = do(work, Settings.from_environment(), Teller(), os.environ.get("MLMODELSCOPE_SPEAKS_FOR"))
        say("done", **told)
    except MLModelScopeError as error:
        again = isinstance(error, _TRANSIENT) and not isinstance(error, _PERMANENT)
        say("failed", error=type(error).__name__, message=error.message, hint=error.hint, again=again)
    except Exception as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        say("failed", error="Surprise", message=f"an error of our own: {reason}", hint=None, again=False)


def _end_with_the_agent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
