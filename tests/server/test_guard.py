"""Around every question: headers, limits, patience, what is counted and what is written down."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mlmodelscope.cluster.description import describe_agent
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.reference import parse_reference

from .conftest import World
from .inside import Inside

PROTECTION = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server at a real socket that loses its patience soon, and writes JSON."""
    world = World(tmp_path_factory.mktemp("hasty"))
    world.serve(executor="none", head_s=1, keep_alive_s=1, body_s=1, connections=20, log_format="json")
    yield world
    world.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server with an agent of its own that says all it can say, and takes records of anybody."""
    world = World(tmp_path_factory.mktemp("lab"))
    database = f"sqlite:///{world.place}/server/records.sqlite"
    world.serve(log_level="debug", database=database, accept="any")
    yield world
    world.close()


def test_every_answer_has_the_headers_that_protect_it(tmp_path: Path) -> None:
    with Inside(tmp_path, largest_body=1000) as server:
        api = "/api/v1"
        answers = [
            server.get(f"{api}/health"),
            server.get(f"{api}/evaluations"),
            server.get(f"{api}/evaluations/nothing"),
            server.get(f"{api}/whoami", "wrong"),
            server.get(f"{api}/whoami", headers={"Host": "evil.example"}),
            server.get(f"{api}/nothing"),
            server.ask("PUT", f"{api}/whoami"),
            server.ask(
                "POST", f"{api}/requests", content=b'{"model": "\xff"}', headers={"Content-Type": "application/json"}
            ),
            server.ask("POST", f"{api}/manifests", json={"text": "x" * 2000}),
            server.get(f"{api}/evaluations/%00"),
            server.get("/metrics"),
        ]
        page = server.get("/")
    assert [each.status_code for each in answers] == [200, 200, 404, 401, 400, 404, 405, 400, 413, 400, 200]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in PROTECTION} == PROTECTION
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"] and "server" not in answer.headers
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert page.status_code == 200 and {name: page.headers.get(name) for name in PROTECTION} == PROTECTION
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_no_other_page_may_ask(tmp_path: Path) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    with Inside(tmp_path) as server:
        for method in ("OPTIONS", "GET"):
            answer = server.ask(method, "/api/v1/evaluations", headers=headers)
            assert answer.status_code in (401, 405)
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_too_many_questions_are_answered_with_when_to_come_back(tmp_path: Path) -> None:
    with Inside(tmp_path, requests_per_minute=1) as server:
        token = server.token("read")
        seen = [server.get("/api/v1/whoami", token) for _ in range(5)]
        refused = [each for each in seen if each.status_code == 429]
        assert seen[0].status_code == 200 and refused and int(refused[-1].headers["retry-after"]) >= 1
        # Names that are made up are cheap: they all come from one address.
        invented = [server.get("/api/v1/whoami", f"mlms_{number}") for number in range(40)]
    assert {each.status_code for each in invented} == {401, 429}


def test_numbers_for_prometheus(tmp_path: Path) -> None:
    with Inside(tmp_path, require_token=True) as server:
        token = server.token("read", "agent")
        assert server.get("/metrics").status_code == 401
        described = describe_agent(server.desk.settings, name="one").model_dump(mode="json")
        joined = server.ask("POST", "/api/v1/agents", token, json={"description": described, "incarnation": "1"})
        assert joined.status_code == 200, joined.text
        server.get("/api/v1/evaluations", token)
        assert server.get("/api/v1/evaluations/x", token).status_code == 404
        text = server.get("/metrics", token).text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    route = 'method="GET",route="/api/v1/evaluations'
    assert numbers[f'mlmodelscope_requests_total{{{route}",status="200"}}'] == "1.0"
    assert numbers[f'mlmodelscope_requests_total{{{route}/{{identity}}",status="404"}}'] == "1.0"
    assert numbers[f'mlmodelscope_request_seconds_count{{{route}"}}'] == "1.0"
    assert numbers['mlmodelscope_agents{state="online"}'] == "1.0"
    assert numbers['mlmodelscope_evaluations{state="waiting"}'] == "0.0"
    assert numbers["mlmodelscope_queue_age_seconds"] == "0.0" and numbers["mlmodelscope_database_up"] == "1.0"
    assert numbers["mlmodelscope_database_errors_total"] == "0.0"


def test_numbers_may_be_open(tmp_path: Path) -> None:
    with Inside(tmp_path, require_token=True, metrics="open") as server:
        assert "mlmodelscope_requests_total" in server.get("/metrics").text


def test_strangers_are_sent_away_before_anything_of_theirs_is_read(hasty: World) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), 300) as line:
        line.sendall(
            b"POST /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\n"
            b"Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
        )
        assert line.recv(1000).startswith(b"HTTP/1.1 401")


def test_a_head_that_never_ends_is_not_waited_for(hasty: World) -> None:
    for begun in (b"", b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
        with socket.create_connection(("127.0.0.1", hasty.port), 300) as line:
            line.sendall(begun)
            assert line.recv(100) == b""  # the server has closed it
    with socket.create_connection(("127.0.0.1", hasty.port), 300) as line:
        line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += line.recv(5000)
        assert answer.startswith(b"HTTP/1.1 200")
        line.sendall(b"GET /api/v1/")  # the second question on the same line
        assert line.recv(100) == b""


def test_a_head_that_is_too_long_is_not_read_to_its_end(hasty: World) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), 300) as line:
        line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(10_000):
                line.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")


def first_line(world: World, head: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        line.sendall(head + b"\r\n")
        return line.recv(1000).partition(b"\r\n")[0]


def test_a_long_head_is_refused_even_if_it_comes_at_once(hasty: World) -> None:
    head = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
    assert first_line(hasty, head + b"X-More: " + b"x" * 60_000 + b"\r\n").startswith(b"HTTP/1.1 200")
    assert first_line(hasty, head + b"X-More: " + b"x" * 70_000 + b"\r\n").startswith(b"HTTP/1.1 431")
    assert first_line(hasty, head + b"X: y\r\n" * 13_000).startswith(b"HTTP/1.1 431")


def test_two_names_of_the_server_are_one_too_many(hasty: World) -> None:
    head = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
    assert first_line(hasty, head + b"host: localhost\r\n").startswith(b"HTTP/1.1 400")
    assert first_line(hasty, head + b"HOST: evil.example\r\n").startswith(b"HTTP/1.1 400")


def test_a_body_that_drips_is_given_up(hasty: World) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), 300) as line:
        head = b"POST /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        line.sendall(head + b"Content-Length: 100\r\n\r\n{")
        answer = b""
        while chunk := line.recv(4096):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 408") and b"connection: close" in answer.lower()


def test_a_crowd_is_told_to_wait(hasty: World) -> None:
    def status() -> int:
        return httpx.get(f"{hasty.url}/api/v1/health", timeout=300).status_code

    def is_full() -> bool:
        """They are sent away after a second: each time it is a new crowd."""
        lines = [socket.create_connection(("127.0.0.1", hasty.port), 300) for _ in range(25)]
        try:
            return status() == 503
        finally:
            for line in lines:
                line.close()

    hasty.until(is_full, "it is full")
    hasty.until(lambda: status() == 200, "they are gone")


def test_each_question_is_one_line_of_json_with_its_id(hasty: World) -> None:
    url = f"{hasty.url}/api/v1/evaluations"
    answer = httpx.get(f"{url}?model=x", headers={"X-Request-Id": "mine-1"}, timeout=300)
    assert answer.headers["x-request-id"] == "mine-1"
    odd = httpx.get(url, headers={"X-Request-Id": 'x" or {}'}, timeout=300)
    assert odd.headers["x-request-id"] != 'x" or {}'

    def told() -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in hasty.log("server").splitlines() if line.startswith("{")]
        return [each for each in lines if each.get("request_id") == "mine-1"]

    hasty.until(told, "it is written down")
    (line,) = told()
    expected = {"method": "GET", "path": "/api/v1/evaluations", "route": "/api/v1/evaluations", "status": 200}
    assert {name: line[name] for name in expected} == expected
    assert line["owner"] == "local" and line["duration_s"] > 0 and line["client"] == "127.0.0.1"


def test_secrets_are_in_no_log_however_much_is_logged(lab: World) -> None:
    admin, agent = lab.token("admin", owner="root"), lab.token("agent", owner="lab")
    lab.agent("quiet", token=agent)
    client = lab.client(admin)
    lab.until(lambda: "quiet" in {each["id"] for each in client.agents()}, "the agent has joined")
    made = client.post("/tokens", {"name": "n", "owner": "bob", "scopes": ["read"]})["token"]
    wrong = "mlms_guessed_by_somebody"
    for path, token in (("/whoami", wrong), (f"/whoami?token={made}", made)):
        lab.http.get(path, headers={"Authorization": f"Bearer {token}"})
    text = (
        "name: secretive\nversion: 1.0.0\ntask: classification\nformat: folder\n"
        "sources: [{url: 'https://user:pass-in-url@x.example/a.zip?sig=signature-in-url'}]\n"
    )
    with pytest.raises(ManifestError) as refusal:
        client.put_manifest(text)
    assert "pass-in-url" not in str(refusal.value) and "signature-in-url" not in str(refusal.value)
    asked = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}, "agents": "all", "again": True}
    for each in client.ask(asked):
        each.wait()
    log = lab.logs()
    assert "/api/v1/whoami" in log
    for secret in (admin, agent, made, wrong, "pass-in-url", "signature-in-url"):
        assert secret not in log


def changes(document: dict[str, Any]) -> set[str]:
    return {
        operation["operationId"]
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }


AUDITED = {
    "put_manifest": "put dataset",
    "delete_manifest": "delete dataset",
    "ask_for_work": "ask evaluate",
    "ask_for_replication": "ask replicate",
    "ask_for_sensitivity": "ask sensitivity",
    "cancel_evaluation": "cancel",
    "delete_evaluation": "delete evaluation",
    "delete_record": "delete record",
    "push_bundle": "push",
    "pin_record": "pin",
    "add_tag": "tag",
    "remove_tag": "remove tag",
    "add_note": "add note",
    "remove_note": "remove note",
    "drain_agent": "drain",
    "make_token": "make token",
    "revoke_token": "revoke token",
    "join_agent": "join",
    "leave_agent": "leave",
    "finish_evaluation": "hand over",
    "send_artifact": "upload",
    "delete_artifact": "delete artifact",
    "delete_trace": "delete trace",
}
"""What changes something, and how the audit log calls it."""
NOT_AUDITED = {
    "resolve_request": "changes nothing",
    "look_up_artifact": "changes nothing",
    "announce_artifact": "nothing is there before it is sent",
    "take_spans": "spans come all the time; the trace says whose it is",
    "check_manifest": "changes nothing",
    "convert_manifest": "changes nothing",
    "begin_manifest": "changes nothing",
    "beat_agent": "a sign of life",
    "take_evaluations": "an event of the evaluation",
    "tell_events": "events of the evaluation",
    "finish_part": "an event of the evaluation",
    "fail_evaluation": "an event of the evaluation",
    "confirm_cancelled": "an event of the evaluation",
    "return_evaluation": "an event of the evaluation",
    "predict": "leaves nothing behind; where code runs it is noted",
    "take_prediction": "leaves nothing behind",
    "tell_prediction": "leaves nothing behind",
    "answer_prediction": "leaves nothing behind",
    "return_prediction": "leaves nothing behind",
}


def test_everything_that_changes_something_is_written_down(lab: World) -> None:
    admin = lab.token("admin", owner="root")
    agent = lab.agent("busy", token=admin)
    client = lab.client(admin)
    lab.until(lambda: "busy" in {each["id"] for each in client.agents()}, "the agent has joined")
    document = client.get("/openapi.json")
    assert changes(document) == set(AUDITED) | set(NOT_AUDITED)  # a new one must be thought about
    text = "name: m\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: 'https://x.org/a.zip#a/'}]\n"
    client.put_manifest(text)
    client.delete("/manifests/dataset/m/1.0.0")
    work: dict[str, Any] = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}}
    work["where"] = {"agent": "busy"}
    (asked,) = client.ask({**work, "again": True})
    record = asked.wait().record()
    asked.cancel()
    client.delete(f"/evaluations/{asked.id}")
    client.post("/agents/busy/drain", {"draining": True})
    work["wait_for_agent"] = True  # the next two are only asked for
    client.post("/replications", {**work, "arguments": {"claim": "top1=50", "explain": False}})
    client.post("/sensitivities", {**work, "arguments": {"pitfalls": ["exif"]}})
    client.download(f"/records/{record.id}/bundle", lab.place / "bundle.zip")
    client.delete(f"/records/{record.id}")
    client.send_file("/bundles", lab.place / "bundle.zip")
    client.post(f"/records/{record.id}/pin", {"pinned": True})
    client.post(f"/records/{record.id}/tags", {"tag": "paper"})
    client.delete(f"/records/{record.id}/tags/paper")
    (note,) = client.post(f"/records/{record.id}/notes", {"text": "as published"})["notes"]
    client.delete(f"/records/{record.id}/notes/{note['id']}")
    made = client.post("/tokens", {"name": "n", "owner": "bob", "scopes": ["read"]})
    client.delete(f"/tokens/{made['id']}")
    place = lab.place / "file"
    place.write_text("mine")
    client.delete(f"/artifacts/{parse_reference(client.upload(place)).digest}")
    span = {"traceId": "5b8aa5a2d2c872e8321cf37308d69df2", "spanId": "051581bf3cb55c13", "name": "a"}
    client.post("/otlp/v1/traces", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    client.delete(f"/traces/{span['traceId']}")
    agent.terminate()
    assert agent.wait(300) == 0
    noted = {each["what"] for each in client.get("/audit")["items"]}
    assert noted == set(AUDITED.values())
