"""Following what a server runs, until it ends, from the command line."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mlmodelscope.cli.watch import worst
from mlmodelscope.client.client import Client

from .conftest import World

TOY = {"model": "toy", "dataset": "pictures"}


class Receiver:
    """Somebody's webhook: what came, and what is answered."""

    def __init__(self) -> None:
        self.came: list[dict[str, Any]] = []
        self.answers: list[int] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = owner.answers.pop(0) if owner.answers else 204
                if code < 300:
                    owner.came.append(json.loads(body))
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing on standard error, which a test reads."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    return lasting_world.client()


@pytest.fixture(scope="module")
def finished(client: Client) -> str:
    return client.ask(TOY)[0].wait().id


def watch(world: World, *words: str) -> tuple[int, str, str]:
    return world.say("watch", *words, "--server", world.url)


def test_it_waits_for_the_end_and_tells_the_webhook(lasting_world: World, client: Client, hook: Receiver) -> None:
    (asked,) = client.ask({**TOY, "options": {"seed": 7}})
    code, told, said = watch(lasting_world, asked.id, "--webhook", hook.url)
    record = asked.refresh().facts["record"]
    assert (code, asked.state) == (0, "finished")
    assert told == f"{asked.id}  evaluate toy on pictures: finished, record {record}\n"
    assert "running on " in said
    (came,) = hook.came
    assert (came["event"], came["id"], came["state"], came["record"]) == (
        "evaluation ended",
        asked.id,
        "finished",
        record,
    )
    assert came["exit_code"] == 0 and came["verdict"] is None and came["server"].startswith(lasting_world.url)


def test_the_exit_code_is_that_of_the_worst_verdict(lasting_world: World, client: Client, finished: str) -> None:
    arguments = {"claim": "top1=99@pictures", "explain": False}
    (asked,) = client.ask({"kind": "replicate", **TOY, "arguments": arguments})
    code, told, _ = watch(lasting_world, asked.id, finished, "--json")
    by_name = {each["id"]: each for each in json.loads(told)}
    assert by_name[asked.id]["verdict"] == "not reproduced" and by_name[asked.id]["exit_code"] == 1
    assert by_name[finished]["exit_code"] == 0 and code == 1


def test_one_that_fails_or_is_cancelled_is_no_success(lasting_world: World, client: Client, hook: Receiver) -> None:
    (asked,) = client.ask({**TOY, "where": {"labels": {"room": "nowhere"}}, "wait_for_agent": True})
    asked.cancel()
    code, told, _ = watch(lasting_world, asked.id, "--webhook", hook.url)
    assert code == 1 and ": cancelled" in told and hook.came[0]["state"] == "cancelled"


def test_without_names_it_follows_ones_own(lasting_world: World, client: Client) -> None:
    code, told, said = watch(lasting_world)
    assert (code, told) == (0, "") and "nothing of yours is waiting or running" in said


def test_a_busy_receiver_is_asked_again(lasting_world: World, finished: str, hook: Receiver) -> None:
    hook.answers = [503]
    code, *_ = watch(lasting_world, finished, "--webhook", hook.url)
    assert code == 0 and len(hook.came) == 1


@pytest.mark.parametrize("answer", [404, 302])
def test_a_webhook_that_refuses_is_reported(lasting_world: World, finished: str, hook: Receiver, answer: int) -> None:
    hook.answers = [answer]
    code, told, said = watch(lasting_world, finished, "--webhook", hook.url)
    assert code == 1 and finished in told and not hook.came
    assert f"the webhook was not told of {finished}" in said and f"answered {answer}" in said


@pytest.mark.parametrize(
    "url", ["", "ftp://host.example/x", "host.example/x", "http://", "file:///etc/passwd", "https://a b", "http://[x"]
)
def test_an_address_that_cannot_be_right_is_refused_first(lasting_world: World, client: Client, url: str) -> None:
    code, told, said = watch(lasting_world, "e1", "--webhook", url)
    assert code == 2 and not told and "not an http or https address" in said


def test_what_is_not_there_is_named(lasting_world: World, client: Client) -> None:
    code, _, said = watch(lasting_world, "e20990101-000000-0000")
    assert code != 0 and "e20990101-000000-0000" in said and "Traceback" not in said


def test_it_is_about_a_server(lasting_world: World) -> None:
    code, _, said = lasting_world.say("watch")
    assert code == 2 and "--server URL" in said


@pytest.mark.parametrize(("codes", "code"), [([4, 1, 0], 1), ([4, 2], 2), ([0, 4], 4), ([0, 0], 0), ([], 0)])
def test_of_several_the_worst_counts(codes: list[int], code: int) -> None:
    assert worst(codes) == code
