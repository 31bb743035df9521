"""Around every question: headers, limits, patience, what is counted and what is written down."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import httpx
import pytest

from mlmodelscope.manifest.reference import parse_reference

from .conftest import World

PROTECTION = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_every_answer_has_the_headers_that_protect_it(world: World) -> None:
    world.serve(executor="none", largest_body=1000)
    api = f"{world.url}/api/v1"
    answers = [
        httpx.get(f"{api}/health"),
        httpx.get(f"{api}/evaluations"),
        httpx.get(f"{api}/evaluations/nothing"),
        httpx.get(f"{api}/whoami", headers=bearer("wrong")),
        httpx.get(f"{api}/whoami", headers={"Host": "evil.example"}),
        httpx.get(f"{api}/nothing"),
        httpx.put(f"{api}/whoami"),
        httpx.post(f"{api}/requests", content=b'{"model": "\xff"}', headers={"Content-Type": "application/json"}),
        httpx.post(f"{api}/manifests", json={"text": "x" * 2000}),
        httpx.get(f"{api}/evaluations/%00"),
        httpx.get(f"{world.url}/metrics"),
    ]
    assert [each.status_code for each in answers] == [200, 200, 404, 401, 400, 404, 405, 400, 413, 400, 200]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in PROTECTION} == PROTECTION
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"] and "server" not in answer.headers
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["request_id"] == answer.headers["x-request-id"]
    page = httpx.get(world.url)
    assert page.status_code == 200 and {name: page.headers.get(name) for name in PROTECTION} == PROTECTION
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_no_other_page_may_ask(world: World) -> None:
    world.serve(executor="none")
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "GET"):
        answer = httpx.request(method, f"{world.url}/api/v1/evaluations", headers=headers)
        assert answer.status_code in (401, 405)
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_strangers_are_sent_away_before_anything_of_theirs_is_read(world: World) -> None:
    world.serve(require_token=True, executor="none")
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        line.sendall(
            b"POST /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n{"
        )
        assert line.recv(1000).startswith(b"HTTP/1.1 401")


def test_too_many_questions_are_answered_with_when_to_come_back(world: World) -> None:
    token = world.run("token", "make", "--owner", "ada", "--scope", "read")
    world.serve(executor="none", requests_per_minute=60)
    url = f"{world.url}/api/v1/whoami"
    with httpx.Client() as client:
        seen = [client.get(url, headers=bearer(token)) for _ in range(80)]
        refused = [each for each in seen if each.status_code == 429]
        assert seen[0].status_code == 200 and refused and int(refused[-1].headers["retry-after"]) >= 1
        # Names that are made up are cheap: they all come from one address.
        invented = [client.get(url, headers=bearer(f"mlms_{number}")).status_code for number in range(700)]
    assert set(invented) == {401, 429} and invented.count(401) <= 620


def test_a_head_that_never_ends_is_not_waited_for(world: World) -> None:
    world.serve(executor="none", head_s=1, keep_alive_s=1)
    for begun in (b"", b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
        with socket.create_connection(("127.0.0.1", world.port), 300) as line:
            line.sendall(begun)
            assert line.recv(100) == b""  # the server has closed it
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += line.recv(5000)
        assert answer.startswith(b"HTTP/1.1 200")
        line.sendall(b"GET /api/v1/")  # the second question on the same line
        assert line.recv(100) == b""


def test_a_head_that_is_too_long_is_not_read_to_its_end(world: World) -> None:
    world.serve(executor="none")
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        line.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(10_000):
                line.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")


def test_a_body_that_drips_is_given_up(world: World) -> None:
    world.serve(executor="none", body_s=1)
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        head = b"POST /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        line.sendall(head + b"Content-Length: 100\r\n\r\n{")
        answer = b""
        while chunk := line.recv(4096):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 408") and b"connection: close" in answer.lower()


def test_a_crowd_is_told_to_wait(world: World) -> None:
    world.serve(executor="none", connections=5)
    lines = [socket.create_connection(("127.0.0.1", world.port), 300) for _ in range(8)]
    try:
        time.sleep(0.2)
        assert httpx.get(f"{world.url}/api/v1/health").status_code == 503
    finally:
        for line in lines:
            line.close()
    world.until(lambda: httpx.get(f"{world.url}/api/v1/health").status_code == 200, "they are gone")


def test_numbers_for_prometheus(world: World) -> None:
    token = world.run("token", "make", "--owner", "ada", "--scope", "read")
    world.serve(require_token=True)
    assert httpx.get(f"{world.url}/metrics").status_code == 401
    client = world.client(token)
    client.get("/evaluations")
    with pytest.raises(Exception, match="there is no evaluation"):
        client.get("/evaluations/x")
    text = httpx.get(f"{world.url}/metrics", headers=bearer(token)).text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    route = 'method="GET",route="/api/v1/evaluations'
    assert numbers[f'mlmodelscope_requests_total{{{route}",status="200"}}'] == "1.0"
    assert numbers[f'mlmodelscope_requests_total{{{route}/{{identity}}",status="404"}}'] == "1.0"
    assert numbers[f'mlmodelscope_request_seconds_count{{{route}"}}'] == "1.0"
    assert numbers['mlmodelscope_agents{state="there"}'] == "1.0"
    assert numbers['mlmodelscope_evaluations{state="waiting"}'] == "0.0"
    assert numbers["mlmodelscope_queue_age_seconds"] == "0.0" and numbers["mlmodelscope_database_up"] == "1.0"
    assert numbers["mlmodelscope_database_errors_total"] == "0.0"


def test_numbers_may_be_open(world: World) -> None:
    world.serve(require_token=True, executor="none", metrics="open")
    assert "mlmodelscope_requests_total" in httpx.get(f"{world.url}/metrics").text


def test_each_question_is_one_line_of_json_with_its_id(world: World) -> None:
    world.serve(executor="none", log_format="json")
    answer = httpx.get(f"{world.url}/api/v1/evaluations?model=x", headers={"X-Request-Id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    odd = httpx.get(f"{world.url}/api/v1/evaluations", headers={"X-Request-Id": 'x" or {}'})
    assert odd.headers["x-request-id"] != 'x" or {}'
    lines = [json.loads(line) for line in world.log("server").splitlines() if line.startswith("{")]
    (line,) = [each for each in lines if each.get("request_id") == "mine-1"]
    expected = {"method": "GET", "path": "/api/v1/evaluations", "route": "/api/v1/evaluations", "status": 200}
    assert {name: line[name] for name in expected} == expected
    assert line["owner"] == "local" and line["duration_s"] > 0 and line["client"] == "127.0.0.1"


def test_secrets_are_in_no_log_however_much_is_logged(world: World) -> None:
    admin = world.run("token", "make", "--owner", "root", "--scope", "admin")
    agent = world.run("token", "make", "--owner", "lab", "--scope", "agent")
    world.serve(log_level="debug", database=f"sqlite:///{world.place}/server/records.sqlite")
    world.agent("one", token=agent)
    client = world.client(admin)
    world.until(lambda: len(client.agents()) == 2, "both agents have joined")
    made = client.post("/tokens", {"name": "n", "owner": "bob", "scopes": ["read"]})["token"]
    wrong = "mlms_guessed_by_somebody"
    httpx.get(f"{world.url}/api/v1/whoami", headers=bearer(wrong))
    httpx.get(f"{world.url}/api/v1/whoami?token={made}", headers=bearer(made))
    text = (
        "name: mine\nversion: 1.0.0\ntask: classification\nformat: folder\n"
        "sources: [{url: 'https://user:pass-in-url@x.example/a.zip?sig=signature-in-url'}]\n"
    )
    client.put_manifest(text)
    client.ask({"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}})[0].wait()
    log = world.logs()
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
    "delete_record": "delete record",
    "push_bundle": "push",
    "pin_record": "pin",
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


def test_everything_that_changes_something_is_written_down(world: World) -> None:
    admin = world.run("token", "make", "--owner", "root", "--scope", "admin")
    world.serve(executor="none", accept="any")
    agent = world.agent("one", token=admin)
    client = world.client(admin)
    document = client.get("/openapi.json")
    assert changes(document) == set(AUDITED) | set(NOT_AUDITED)  # a new one must be thought about
    text = "name: m\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: 'https://x.org/a.zip#a/'}]\n"
    client.put_manifest(text)
    client.delete("/manifests/dataset/m/1.0.0")
    work = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}, "wait_for_agent": True}
    (asked,) = client.ask(work)
    record = asked.wait().record()
    asked.cancel()
    client.post("/replications", {**work, "arguments": {"claim": "top1=50", "explain": False}})
    client.post("/sensitivities", {**work, "arguments": {"pitfalls": ["exif"]}})
    client.download(f"/records/{record.id}/bundle", world.place / "bundle.zip")
    client.delete(f"/records/{record.id}")
    client.send_file("/bundles", world.place / "bundle.zip")
    client.post(f"/records/{record.id}/pin", {"pinned": True})
    client.post("/agents/one/drain", {"draining": True})
    made = client.post("/tokens", {"name": "n", "owner": "bob", "scopes": ["read"]})
    client.delete(f"/tokens/{made['id']}")
    place = world.place / "file"
    place.write_text("mine")
    client.delete(f"/artifacts/{parse_reference(client.upload(place)).digest}")
    span = {"traceId": "5b8aa5a2d2c872e8321cf37308d69df2", "spanId": "051581bf3cb55c13", "name": "a"}
    client.post("/otlp/v1/traces", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    client.delete(f"/traces/{span['traceId']}")
    agent.terminate()
    assert agent.wait(300) == 0
    noted = {each["what"] for each in client.get("/audit")["items"]}
    assert noted == set(AUDITED.values())
