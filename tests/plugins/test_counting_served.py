"""Records of a stranger's task as the REST API answers them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

import asyncio

import httpx

from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.measure.ruler import _close
from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.rest.app import make_app

from .counting import SAMPLES, lay_out


@pytest.fixture
def record(toy: Path, on_the_path: Callable[[Path], None], tmp_path: Path, settings: Settings) -> Iterator[Record]:
    on_the_path(toy)
    _close()  # one that was started before knows nothing of the package
    lay_out(tmp_path)
    yield evaluate(
        tmp_path / "right.yml", tmp_path / "squares.yml", Options(timed_runs=1, warm_up_runs=0), settings=settings
    )
    _close()


def asked(settings: Settings, *paths: str) -> list[Any]:
    """What the server answers at these addresses, in this process."""

    async def ask() -> list[Any]:
        app = make_app(Desk(settings, Config()), agent=False)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 40_000))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
        ):
            answers = [await http.get(f"/api/v1/records{path}") for path in paths]
        assert [each.status_code for each in answers] == [200] * len(paths), [each.text for each in answers]
        return [each.json() for each in answers]

    return asyncio.run(ask())


def test_a_record_and_its_samples_are_answered(record: Record, settings: Settings) -> None:
    one = f"/{record.id}"
    listed, found, samples, shapes = asked(settings, "", one, f"{one}/samples", f"{one}/shapes?sample=0003")
    (row,) = listed["items"]
    assert row["headline"]["name"] == "toy-count-error" and row["headline"]["better"] == "lower"
    assert row["headline"]["value"] == 8 / 64 and row["top1"] is None
    assert found["metrics"]["toy-count-exact"]["value"] == 56 / 64
    assert samples["total"] == SAMPLES and samples["offers"] == ["quality"]
    worst = samples["items"][0]
    assert (worst["id"], worst["truth"], worst["said"], worst["quality"]) == ("0003", "4 squares", "3 squares", 0.5)
    assert [(each["side"], each["text"]) for each in shapes["shapes"]] == [
        ("truth", "4 squares"),
        ("answer", "3 squares"),
    ]
