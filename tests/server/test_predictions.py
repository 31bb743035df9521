"""Asking a model through a server: real agents, real workers, and nothing left behind."""

from __future__ import annotations

import base64
import json
import os
import signal
import struct
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from mlmodelscope.errors import PlanError, TrustError, UsageError
from small_world import MODEL

from .conftest import LOST_SOON, World, free_port

CODE = """\
name: shouting
version: 1.0.0
task: general
run:
  code: |
    def run(ctx, data):
        return [open(path, encoding="utf-8").read().upper() for paths in data.values() for path in paths]
postprocess:
  code: |
    def postprocess(ctx, data):
        return [{"said": text} for text in data]
"""
LARGEST = 100_000
BRIEF = {"scenario": "single-stream", "budget_s": 0.5}


class Asked:
    """A server with gRPC and an agent that trusts, and people who ask it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.guest, self.reader = world.token("read", "run", owner="eve"), world.token("read", owner="ada")
        self.trusted = world.token("read", "run", "trust", owner="bob")
        self.rpc_port = free_port()
        self.server = world.serve(rpc_port=self.rpc_port, trust=True, largest_input=LARGEST)
        self.client = world.client()

    def __call__(self, token: str | None = None, **body: Any) -> httpx.Response:
        return ask(self.world, token, **body)

    def picture(self, number: int = 0) -> Path:
        return self.world.place / "manifests" / "pictures" / f"class{number % 3}" / f"{number:04d}.png"


def encoded(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


def ask(world: World, token: str | None = None, **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return world.http.post("/predictions", json={"model": "toy", **body}, headers=headers, timeout=300)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    world = World(tmp_path_factory.mktemp("world"))
    try:
        found = Asked(world)
        yield found
        assert "Traceback" not in world.log("server")
    finally:
        world.close()


# What it answers ------------------------------------------------------------------------------------------------------


def test_a_model_answers_and_stays_open(asked: Asked) -> None:
    question = {"model": asked.world.add_model("opened"), "input": encoded(asked.picture().read_bytes())}
    first, again = (asked(**question) for _ in range(2))
    assert first.status_code == 200, first.text
    one, two = first.json(), again.json()
    assert len(one["classes"]) == 5 and one["classes"] == two["classes"] and one["scores"] == two["scores"]
    assert not one["warm"] and one["load_ns"] and two["warm"] and two["load_ns"] is None
    names = [each["name"] for each in two["stages"]]
    assert names == ["load", "decode", "resize", "mean", "rescale", "layout", "cast", "collate", "run", "post"]
    assert all(each["duration_ns"] >= 0 for each in two["stages"])
    assert two["agent"] and two["stack"] == "current" and two["model"] == "opened"


def test_what_happens_is_told_as_it_happens(asked: Asked) -> None:
    body = {"model": "toy", "options": {"top_k": 2}, "input": encoded(asked.picture().read_bytes())}
    events = list(asked.client.stream("/predictions", {"Accept": "text/event-stream"}, body))
    assert [each["kind"] for each in events] == ["taken", "opening", "opened", "answer"]
    assert events[0]["agent"] == events[-1]["agent"] and len(events[-1]["classes"]) == 2
    *_, last = asked.client.stream("/predictions", {"Accept": "text/event-stream"}, {**body, "input": {"text": "no"}})
    assert (last["kind"], last["status"], last["title"]) == ("problem", 422, "InputError")


def test_a_manifests_own_code_is_given_a_file(asked: Asked) -> None:
    refused = asked(model={"text": CODE}, input={"text": "hello"})
    assert refused.status_code == 403 and refused.json()["title"] == "TrustError"
    refused = asked(asked.guest, model={"text": CODE}, input={"text": "hello"}, trust=True)
    assert refused.status_code == 403 and refused.json()["scope"] == "trust"
    found = asked(asked.trusted, model={"text": CODE}, input={"text": "hello"}, trust=True)
    assert found.status_code == 200, found.text
    assert json.loads(found.json()["answer"]) == {"said": "HELLO"}
    assert [each["name"] for each in found.json()["stages"]] == ["load", "answer"]


def test_the_library_and_the_command_line_answer_as_on_this_machine(asked: Asked, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff")
    images = [str(asked.picture(1)), str(broken), str(asked.picture(2))]
    there, bad, bytes_too = asked.client.predict("toy", [images[0], broken, asked.picture(2).read_bytes()])
    assert there.error is None and bad.error and not bad.classes and bytes_too.classes and there.stages
    here, served = (
        json.loads(asked.world.say("predict", "toy", *images, "--json", *more, home="here")[1])
        for more in ((), ("--server", asked.world.url))
    )
    for each in (*here, *served):
        each.pop("stages")
    assert here == served and served[0]["classes"] == list(there.classes)
    code, _, complained = asked.world.say("predict", "toy", "none.jpg", "--server", asked.world.url)
    assert code and "there is no file" in complained  # as on this machine


def test_grpc_says_what_rest_says_and_keeps_the_model_for_many(asked: Asked) -> None:
    grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
    from mlmodelscope.server.rpc.convert import plain
    from mlmodelscope.server.rpc.messages import methods

    one, many = (next(each for each in methods() if each.name == name) for name in ("Predict", "PredictMany"))
    contents = [asked.picture(number).read_bytes() for number in range(3)]
    question = {"model": {"name": "toy"}}
    with grpc.insecure_channel(f"127.0.0.1:{asked.rpc_port}") as channel:
        call = channel.unary_unary(one.path, one.asked.SerializeToString, one.answered.FromString)
        rest = asked(input=encoded(contents[0])).json()
        found = call(one.asked(question=question, input={"content": contents[0]}), timeout=300)
        assert list(found.classes) == rest["classes"] and list(found.names) == rest["names"] and found.warm
        assert set(plain(found)) | {"answer", "load_ns", "prompt", "shapes"} == set(rest)
        with pytest.raises(grpc.RpcError, match="not an image|cannot|unknown|is no") as wrong:
            call(one.asked(question=question, input={"text": "no picture"}), timeout=300)
        assert wrong.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        talk = channel.stream_stream(many.path, many.asked.SerializeToString, many.answered.FromString)
        said = [many.asked(question=question)]
        said += [many.asked(input={"content": each}) for each in (contents[1], b"nothing", contents[2])]
        answers = list(talk(iter(said), timeout=300))
        assert [each.number for each in answers] == [0, 1, 2]
        assert [each.WhichOneof("ending") for each in answers] == ["prediction", "problem", "prediction"]
        assert all(each.prediction.warm for each in answers[::2]) and answers[1].problem["title"] == "InputError"
        with pytest.raises(grpc.RpcError, match="first message alone"):
            list(talk(iter([said[0], many.asked(question=question, input={"text": "x"})]), timeout=300))
        with pytest.raises(grpc.RpcError, match="not as it should be"):
            list(talk(iter([many.asked(input={"content": contents[0]})]), timeout=300))


# What it refuses ------------------------------------------------------------------------------------------------------


def bomb() -> bytes:
    """A png of some hundred bytes that says it is 60,000 pixels wide and high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">LLBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (encoded(bomb()), "pixels"),
        (encoded(b"\x89PNG\r\n\x1a\nbroken"), ""),
        (encoded(b"\xff\xd8\xff"), ""),
        (encoded(b"<svg onload='alert(1)'/>"), ""),
        ({"text": "what is this?"}, ""),
        ({"text": ""}, "empty"),
        ({"base64": "%%%"}, "base64"),
        (encoded(bytes(LARGEST + 1)), f"{LARGEST} are the most"),
        ({"url": "file:///etc/passwd"}, "http://"),
        ({"url": "http://[::1"}, "http://"),
        ({"url": "http://127.0.0.1:1/x.png"}, "cannot fetch"),
        ({}, "exactly one"),
        ({"text": "a", "base64": "YQ=="}, "exactly one"),
    ],
)
def test_an_input_that_is_none_is_refused_in_words(asked: Asked, given: dict[str, str], words: str) -> None:
    refused = asked(input=given)
    assert refused.status_code == 422 and words in refused.text, refused.text
    assert refused.headers["content-type"] == "application/problem+json"
    assert asked(input=encoded(asked.picture().read_bytes())).status_code == 200


def test_bodies_have_an_end(asked: Asked) -> None:
    assert asked(input=encoded(bytes(20 << 20))).status_code == 413


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "nothing"}, 404, "there is no model"),
        ({"model": "../../etc/passwd"}, 400, "is a path"),
        ({"model": {"text": MODEL.replace("toy.json", "/etc/passwd")}}, 422, "a file of your machine"),
        ({"options": {"speed": 3}}, 404, "there is no option"),
        ({"options": {"top_k": "x"}}, 400, "top_k"),
        ({"where": {"labels": {"room": "3"}}}, 409, "no agent meets it"),
        ({"timeout_s": 0}, 422, "timeout_s"),
        ({"timeout_s": 1e9}, 422, "timeout_s"),
        ({"trust": True}, 403, "trust"),
        ({"software": "image:evil"}, 403, "trust"),
    ],
)
def test_a_question_that_cannot_be_met_is_refused(asked: Asked, body: dict[str, Any], status: int, words: str) -> None:
    refused = asked(asked.guest, input={"text": "x"}, **body)
    assert refused.status_code == status and words in refused.text, refused.text


def test_who_may_only_read_may_not_ask(asked: Asked) -> None:
    assert asked(asked.reader, input={"text": "x"}).status_code == 403
    http = asked.world.http
    assert http.post("/agents/x/predictions/take", json={"incarnation": "1"}).status_code == 403
    for what, more in (("events", {"event": {"kind": "opened"}}), ("answer", {"ending": {}}), ("return", {})):
        assert http.post(f"/predictions/x/{what}", json={"agent": "x", **more}).status_code == 403


@pytest.fixture
def inner(asked: Asked) -> Iterator[tuple[str, list[str]]]:
    """Something that only this machine can reach, and what it was asked for."""
    seen: list[str] = []
    content = asked.picture(4).read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            found = content if self.path.endswith(".png") else bytes(LARGEST + 1)
            self.send_response(200)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", seen
    http.shutdown()
    http.server_close()
    thread.join()


def test_a_strangers_address_does_not_reach_inside(asked: Asked, inner: tuple[str, list[str]]) -> None:
    url, seen = inner
    refused = asked(asked.guest, input={"url": f"{url}/a.png"})
    assert refused.status_code == 422 and "not a public one" in refused.text and seen == []
    model = MODEL.replace("toy.json", f"{url}/model.json")
    refused = asked(asked.guest, model={"text": model}, input={"text": "x"})
    assert refused.status_code == 409 and "not a public one" in refused.text and seen == []
    found = asked(input={"url": f"{url}/a.png"})
    assert found.status_code == 200 and seen == ["/a.png"]
    assert found.json()["scores"] == asked(input=encoded(asked.picture(4).read_bytes())).json()["scores"]
    refused = asked(input={"url": f"{url}/long"})
    assert refused.status_code == 422 and f"more than {LARGEST} bytes" in refused.text


# What it survives -----------------------------------------------------------------------------------------------------


def workers(ancestor: int) -> list[int]:
    """Processes of models that are open below this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
            command = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(words[1]) == ancestor and b"mlmodelscope_worker" in command and words[0] != "Z":
            found.append(int(path.parent.name))
    return found


def test_a_worker_that_was_killed_is_replaced(asked: Asked) -> None:
    content = encoded(asked.picture().read_bytes())
    before = asked(input=content).json()
    killed = workers(asked.server.pid)
    assert killed
    for each in killed:
        os.kill(each, signal.SIGKILL)
    after = asked(input=content)
    assert after.status_code == 200 and not after.json()["warm"]
    assert after.json()["scores"] == before["scores"] and not set(killed) & set(workers(asked.server.pid))


def test_an_input_that_kills_its_worker_is_told_so(asked: Asked) -> None:
    asked.world.add_model("killing", die_above=-9)
    content = encoded(asked.picture().read_bytes())
    refused = asked(model="killing", input=content)
    assert refused.status_code == 409 and "killed by SIGKILL" in refused.text
    assert asked(input=content).status_code == 200


def test_nobody_waits_for_ever(asked: Asked) -> None:
    asked.world.add_model("sleepy", sleep_s=100)
    content = encoded(asked.picture().read_bytes())
    late = asked(model="sleepy", input=content, timeout_s=1)
    assert late.status_code == 504 and "within 1 s" in late.json()["detail"]
    assert asked(input=content).status_code == 200


def test_a_timed_evaluation_is_not_disturbed(asked: Asked) -> None:
    asked.world.add_model("steady", sleep_s=0.02)
    content = encoded(asked.picture().read_bytes())
    assert asked(input=content).status_code == 200 and workers(asked.server.pid)
    request = {"model": "steady", "dataset": "pictures", "kind": "bench"}
    (timed,) = asked.client.ask({**request, "arguments": {"scenario": "single-stream", "budget_s": 3}})
    asked.world.until(lambda: timed.refresh().state == "running", "it runs")
    busy = asked(input=content, timeout_s=1)
    assert timed.refresh().state == "running", timed.facts
    assert busy.status_code == 503 and busy.json()["title"] == "Busy" and "timed" in busy.json()["hint"]
    assert not workers(asked.server.pid)  # what was open is not any more
    assert timed.wait().state == "finished", timed.facts
    assert asked(input=content).status_code == 200


def test_a_timed_evaluation_begins_when_what_is_asked_has_its_answer(asked: Asked) -> None:
    asked.world.add_model("slow", sleep_s=1)
    body = {"model": "slow", "input": encoded(asked.picture().read_bytes())}
    kinds = []
    for event in asked.client.stream("/predictions", {"Accept": "text/event-stream"}, body):
        kinds.append(event["kind"])
        if event["kind"] == "opened":
            (timed,) = asked.client.ask({"model": "toy", "dataset": "pictures", "kind": "bench", "arguments": BRIEF})
        if event["kind"] == "answer":
            assert timed.refresh().state == "waiting"
    assert kinds[-1] == "answer" and timed.wait().state == "finished"


def test_nothing_is_written_down(asked: Asked) -> None:
    before = len(asked.client.records())
    asked(input=encoded(asked.picture().read_bytes()))
    assert len(asked.client.records()) == before
    assert not [each for each in asked.client.evaluations() if each.facts["kind"] not in ("bench",)]


def test_problems_become_errors_of_the_library(asked: Asked) -> None:
    picture = asked.picture()
    with pytest.raises(UsageError, match="there is no model"):
        asked.client.predict("nothing", [picture])
    with pytest.raises(PlanError, match="no agent meets it"):
        asked.client.predict("toy", [picture], where={"labels": {"room": "3"}})
    with pytest.raises(TrustError, match="code"):
        asked.client.predict("toy", [picture], software="image:evil")


# Agents elsewhere -----------------------------------------------------------------------------------------------------


@pytest.mark.slow(reason="an agent's lease has to run out")
def test_an_agent_that_is_killed_loses_it_to_another(world: World) -> None:
    world.add_model("sleepy", sleep_s=3)
    token = world.token("agent", "read", owner="lab")
    world.host(executor="none", **LOST_SOON)
    agents = {name: world.agent(name, token=token) for name in ("one", "two")}
    client = world.client()
    world.until(lambda: len(client.agents()) == 2, "both agents have joined")
    picture = (world.place / "manifests" / "pictures" / "class0" / "0000.png").read_bytes()
    body = {"model": "sleepy", "input": encoded(picture)}
    seen = []
    for event in client.stream("/predictions", {"Accept": "text/event-stream"}, body):
        seen.append(event)
        if event["kind"] == "opened" and len(agents) == 2:
            agents.pop(next(each["agent"] for each in seen if each["kind"] == "taken")).kill()
    (left,) = agents
    assert seen[-1]["kind"] == "answer" and seen[-1]["agent"] == left
    agents[left].kill()
    gone = ask(world, **body)
    assert gone.status_code in (409, 503), gone.text  # depending on whether the server has noticed


# The trace of whoever asks --------------------------------------------------------------------------------------------

CALLERS_SPAN = "00f067aa0ba902b7"


def ask_within(asked: Asked, trace: str, flags: str = "01", **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {asked.guest}", "traceparent": f"00-{trace}-{CALLERS_SPAN}-{flags}"}
    return asked.world.http.post("/predictions", json={"model": "toy", **body}, headers=headers, timeout=300)


def spans_within(asked: Asked, trace: str) -> list[dict[str, Any]]:
    found = asked.world.http.get(f"/traces/{trace}/spans", headers={"Authorization": f"Bearer {asked.reader}"})
    return found.json()["items"] if found.status_code == 200 else []


def test_a_prediction_joins_the_trace_of_who_asked(asked: Asked) -> None:
    trace = "a" * 32
    answer = ask_within(asked, trace, input=encoded(asked.picture().read_bytes()))
    assert answer.status_code == 200
    spans = {span["name"]: span for span in spans_within(asked, trace)}
    whole, agent = spans["predict toy"], spans[f"agent {answer.json()['agent']}"]
    assert whole["parent"] == CALLERS_SPAN and agent["parent"] == whole["id"]
    assert whole["start_ns"] <= agent["start_ns"] and agent["end_ns"] <= whole["end_ns"]
    stages = [each["name"] for each in answer.json()["stages"]]
    assert set(stages) <= spans.keys() and spans["run"]["parent"] == agent["id"]
    ask_within(asked, trace, input=encoded(asked.picture().read_bytes()))
    assert sum(span["name"] == "predict toy" for span in spans_within(asked, trace)) == 2


def test_grpc_joins_a_trace_by_its_metadata(asked: Asked) -> None:
    grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
    from mlmodelscope.server.rpc.messages import methods

    one, many = (next(each for each in methods() if each.name == name) for name in ("Predict", "PredictMany"))
    question, content = {"model": {"name": "toy"}}, asked.picture().read_bytes()
    metadata = (("traceparent", f"00-{'e' * 32}-{CALLERS_SPAN}-01"),)
    with grpc.insecure_channel(f"127.0.0.1:{asked.rpc_port}") as channel:
        call = channel.unary_unary(one.path, one.asked.SerializeToString, one.answered.FromString)
        call(one.asked(question=question, input={"content": content}), timeout=300, metadata=metadata)
        assert len([each for each in spans_within(asked, "e" * 32) if each["parent"] == CALLERS_SPAN]) == 1
        talk = channel.stream_stream(many.path, many.asked.SerializeToString, many.answered.FromString)
        said = [many.asked(question=question), *[many.asked(input={"content": content})] * 2]
        assert len(list(talk(iter(said), timeout=300, metadata=metadata))) == 2
        call(one.asked(question=question, input={"content": content}), timeout=300)
    assert len([each for each in spans_within(asked, "e" * 32) if each["parent"] == CALLERS_SPAN]) == 3


def test_spans_are_kept_for_callers_that_keep_theirs(asked: Asked) -> None:
    picture = encoded(asked.picture().read_bytes())
    assert ask_within(asked, "b" * 32, flags="00", input=picture).status_code == 200
    assert ask_within(asked, "nonsense", input=picture).status_code == 200
    assert spans_within(asked, "b" * 32) == []


def test_a_prediction_without_an_answer_says_why_in_the_trace(asked: Asked) -> None:
    assert ask_within(asked, "c" * 32, input=encoded(b"no picture")).status_code == 422
    (span,) = spans_within(asked, "c" * 32)
    assert span["name"] == "predict" and "error" in span["attributes"]


def test_a_trace_of_somebody_else_is_not_written_to(asked: Asked) -> None:
    picture = encoded(asked.picture().read_bytes())
    ask_within(asked, "d" * 32, input=picture)
    before = len(spans_within(asked, "d" * 32))
    headers = {"Authorization": f"Bearer {asked.trusted}", "traceparent": f"00-{'d' * 32}-{CALLERS_SPAN}-01"}
    body = {"model": "toy", "input": picture}
    answer = asked.world.http.post("/predictions", json=body, headers=headers, timeout=300)
    assert answer.status_code == 200 and len(spans_within(asked, "d" * 32)) == before
