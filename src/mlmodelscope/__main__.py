"""The `mlmodelscope` command."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered before anything is imported
        from mlmodelscope_worker import __version__

        print(f"mlmodelscope {__version__}")
        return
    from mlmodelscope.cli.main import app
    from mlmodelscope.cli.server_choice import take_server
    from mlmodelscope.errors import UsageError

    try:
        sys.argv = take_server(sys.argv)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    app()


if __name__ == "__main__":
    main()
