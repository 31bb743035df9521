"""The `mlmodelscope` command."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered before anything is imported
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        return
    from mlmodelscope.cli.main import app

    app()


if __name__ == "__main__":
    main()
