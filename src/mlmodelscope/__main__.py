"""The `mlmodelscope` command."""

from __future__ import annotations

import atexit
import gc
import sys


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered before anything is imported
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        return
    _collect_less()
    from mlmodelscope.cli.server_choice import take_server
    from mlmodelscope.cli.verbs import VERBS, make_app
    from mlmodelscope.errors import UsageError
    from mlmodelscope.waiting import listeners

    try:
        sys.argv = take_server(sys.argv)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    listeners.append(lambda sentence: print(sentence, file=sys.stderr, flush=True))
    asked = sys.argv[1:2]
    make_app(asked if asked and asked[0] in VERBS else VERBS)()


def _collect_less() -> None:
    """What is imported stays: a collector that looks at it over and over, and once more at the end, is a quarter of
    the time that a short command takes."""
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)


if __name__ == "__main__":
    main()
