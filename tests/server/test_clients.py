"""Clients of one server: the one that is awaited, and the command line, which works there as it does here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import mlmodelscope
from mlmodelscope.client.async_client import AsyncClient
from mlmodelscope.client.client import Client
from mlmodelscope.client.http import ServerError
from mlmodelscope.errors import UsageError

from .conftest import World

TOY = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    found.host(slots=2)
    yield found
    found.close()


@pytest.fixture(scope="module")
def client(world: World) -> Client:
    return world.client()


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_both_clients_can_do_the_same() -> None:
    assert public(AsyncClient) == public(Client)


def test_nothing_waits_for_a_server(world: World, client: Client, tmp_path: Path) -> None:
    asked = {**TOY, "model": world.add_model("awaited")}

    async def story() -> None:
        async with mlmodelscope.connect(world.url, asynchronous=True) as server:
            assert (await server.resolve(asked))["matching"]
            first, second = await asyncio.gather(*(server.ask({**asked, "options": {"seed": each}}) for each in (1, 2)))
            kinds = [event["kind"] async for event in first[0].events()]
            assert kinds[0] == "waiting" and kinds[-1] == "finished"
            record = await second[0].record()
            assert (await first[0].refresh()).state == "finished"
            assert record.samples == 60 and record.id in {each["id"] for each in await server.records(model="awaited")}
            assert (await server.samples(record.id, limit=2))["total"] == 60
            assert {each.id async for each in server.evaluations(model="awaited", limit=1)} == {
                first[0].id,
                second[0].id,
            }
            assert (await server.manifest("model", "toy"))["items"][0]["version"] == "1.0.0"
            assert len(await server.agents()) == 1 and (await server.check("a: b"))["problems"]
            await server.download(f"/records/{record.id}/bundle", tmp_path / "bundle.zip")
            with pytest.raises(UsageError, match="there is no record"):
                await server.record("nothing")
            (ended,) = await server.ask({**asked, "where": {"labels": {"no": "body"}}, "wait_for_agent": True})
            await ended.cancel()
            assert ended.state == "cancelled"

    asyncio.run(story())
    assert (tmp_path / "bundle.zip").stat().st_size > 1000


def test_a_server_that_is_not_there_is_said_so() -> None:
    async def story() -> None:
        async with mlmodelscope.AsyncClient("http://127.0.0.1:9"):
            pass

    with pytest.raises(ServerError, match="cannot be reached"):
        asyncio.run(story())


def test_company_is_noted_where_it_spoils_latencies(world: World, client: Client) -> None:
    slow = {**TOY, "model": world.add_model("slow", sleep_s=0.02)}
    asked = [client.ask({**slow, "options": {"seed": each, "timed_runs": 1}})[0] for each in (3, 4)]
    records = [each.record() for each in asked]
    assert any("ran beside 1 other: its latency counts little" in record.notes for record in records)


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        (("models",), "toy "),
        (("models", "toy"), "takes"),
        (("models", "toy", "--yaml"), "name: toy"),
        (("datasets",), "pictures"),
        (("stacks",), "tensorflow-1.15@"),
        (("machine",), "processor"),
        (("machine", "--yaml"), "cpu:"),
        (("show", "toy"), "# model manifest http://"),
        (("convert", "toy"), "name: toy"),
        (("check", "toy"), "toy: OK"),
        (("overview", "toy"), "toy@1.0.0"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_verb_that_looks_at_a_server(world: World, client: Client, verb: tuple[str, ...], expected: str) -> None:
    if verb[0] == "overview":
        world.evaluate(timed_runs=1)
    code, shown, _ = world.say(*verb, "--server", world.url)
    assert code == 0 and expected in shown


@pytest.mark.parametrize("verb", ["models", "datasets"])
def test_the_same_catalogue_looks_the_same_here_and_there(world: World, client: Client, verb: str) -> None:
    """Tables tell more of this machine: which folders are connected, which models sources describe."""

    def told(*more: str) -> list[tuple[str, ...]]:
        keys = ("name", "version", "task", "license", "description")
        return sorted(tuple(str(each[key]) for key in keys) for each in json.loads(world.say(verb, "--json", *more)[1]))

    assert told("--server", world.url) == told()


def test_a_claim_is_checked_on_a_server(world: World, client: Client, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("replicate", "toy", "pictures", "--claim", "top1=99", "--no-explain", "--report", str(page), "--json")
    code, shown, _ = world.say(*words, "--server", world.url)
    found = json.loads(shown)
    assert (code, found["verdict"]) == (1, "not reproduced")
    assert "toy" in page.read_text(encoding="utf-8")
    assert client.record(found["record"]).samples == 60
    assert not (world.place / "elsewhere" / "records").exists()


def test_a_claim_is_checked_on_a_server_with_as_many_answers_as_are_asked_for(world: World, client: Client) -> None:
    words = ("replicate", "toy", "pictures", "--claim", "top1=99", "--no-explain", "--json", "--server", world.url)
    for kept, more in ((2, ("--top-k", "2")), (5, ("--top-k", "5")), (5, ())):
        _, shown, _ = world.say(*words, *more)
        assert client.record(json.loads(shown)["record"]).plan.answer.top_k == kept


def test_what_pitfalls_cost_is_measured_on_a_server(world: World, client: Client, tmp_path: Path) -> None:
    words = ("sensitivity", "toy", "pictures", "--pitfall", "color-layout", "--plot", str(tmp_path / "costs.svg"))
    code, shown, _ = world.say(*words, "--json", "--server", world.url)
    (row,) = json.loads(shown)
    assert (code, row["words"], row["samples"]) == (0, "BGR instead of RGB", 60)
    assert (tmp_path / "costs.svg").exists()


@pytest.mark.parametrize("words", [("doctor",), ("plan", "toy"), ("stacks", "build", "x"), ("schema",)])
def test_a_verb_that_cannot_be_done_there_says_why(world: World, words: tuple[str, ...]) -> None:
    code, _, complained = world.say(*words, "--server", world.url)
    assert code == 2 and "is done " in complained
