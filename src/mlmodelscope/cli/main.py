"""The whole command line, every verb imported: for help, the reference pages and tests."""

from __future__ import annotations

from mlmodelscope.cli.verbs import make_app

app = make_app()
