"""An agent of the server's own process keeps saying what is done until the database has it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from mlmodelscope.cluster import link
from mlmodelscope.errors import StoreError


class Moody:
    """A queue whose database is away at first."""

    def __init__(self) -> None:
        self.tries = 0

    def finish(self, evaluation: str, attempt: int, record: str) -> None:
        self.tries += 1
        if self.tries < 3:
            raise StoreError("the database cannot be used")


def test_it_is_said_until_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_LONGEST_PAUSE_S", 0.01)
    queue = Moody()
    direct = link.DirectLink(cast(Any, queue), cast(Any, None), 2.0, lambda *part: None, cast(Any, None))
    asyncio.run(direct.finish("e", 1, {"record": "r"}))
    assert queue.tries == 3


def test_what_is_wrong_by_itself_is_not_repeated() -> None:
    def refuse(evaluation: str, attempt: int, packed: Path) -> None:
        raise ValueError("damaged")

    direct = link.DirectLink(cast(Any, None), cast(Any, None), 2.0, refuse, cast(Any, None))
    with pytest.raises(ValueError):
        asyncio.run(direct.finish("e", 1, {"shard": "part.zip"}))
