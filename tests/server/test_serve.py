"""A server with its own agent, as one person on one machine uses it."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.client.http import ServerError
from mlmodelscope.errors import ManifestError, PlanError, TrustError, UsageError

from .conftest import World


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    return lasting_world.client()


def test_an_evaluation_from_question_to_report(lasting_world: World, client: Client, tmp_path: Path) -> None:
    question, http = {"model": lasting_world.add_model("reported"), "dataset": "pictures"}, lasting_world.http
    (asked,) = client.ask(question, key="once")
    assert client.ask(question, key="once")[0].id == asked.id
    kinds = [event["kind"] for event in asked.events()]
    assert (kinds[0], kinds[1], kinds[-1]) == ("waiting", "running", "finished") and "progress" in kinds
    record = asked.refresh().record()
    assert (record.status, record.samples, record.plan.model.name) == ("finished", 60, "reported")
    samples = client.get(f"/records/{record.id}/samples", {"start": 10, "limit": 5})
    assert samples["total"] == 60 and len(samples["items"]) == 5
    wrong = client.get(f"/records/{record.id}/samples", {"only": "wrong"})
    assert all(not each["right"] for each in wrong["items"])
    page = http.get(f"/records/{record.id}/report")
    assert page.headers["content-type"].startswith("text/html") and "sandbox" in page.headers["content-security-policy"]
    assert "reported" in http.get(f"/records/{record.id}/log").text
    tag = http.get(f"/records/{record.id}").headers["etag"]
    assert http.get(f"/records/{record.id}", headers={"If-None-Match": tag}).status_code == 304
    assert [each["id"] for each in client.records(model="reported")] == [record.id]
    bundle = tmp_path / "bundle.zip"
    client.download(f"/records/{record.id}/bundle", bundle)
    assert bundle.stat().st_size > 1000


def test_impossible_requests_say_which_constraint_stands_in_the_way(client: Client) -> None:
    request = {
        "model": "toy",
        "dataset": "pictures",
        "where": {
            "hardware": {"interconnect": "nvlink"},
            "framework": {"name": "tensorflow", "version": ">=1.10.x and <=1.13.x"},
        },
    }
    found = client.resolve(request)
    assert found["matching"] == [] and [each["constraint"] for each in found["obstacles"]] == ["interconnect"]
    assert found["obstacles"][0]["would_match"] == 1
    with pytest.raises(PlanError, match="interconnect: no agent meets it; 1 agent would match without it"):
        client.ask(request)


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        ({"model": "nothing"}, UsageError, "there is no model `nothing`"),
        ({"model": "toy"}, UsageError, "no dataset is named"),
        ({"model": "toy", "dataset": "pictures", "options": {"bach": 1}}, UsageError, "no option `bach`"),
        ({"model": "/etc/passwd"}, UsageError, "is a path"),
        ({"model": "toy", "dataset": "pictures", "kind": "dance"}, UsageError, "kind"),
        ({"model": {"text": "a: ["}}, ManifestError, "request"),
        ({"model": "toy", "dataset": "pictures", "trust": True}, UsageError, "scope `trust`"),
        ({"model": "toy", "dataset": "pictures", "software": "image:debian"}, TrustError, "does not say that it may"),
    ],
)
def test_wrong_requests_are_refused(client: Client, request_: dict, error: type[Exception], words: str) -> None:
    before = [each.id for each in client.evaluations()]
    with pytest.raises(error, match=words):
        client.ask(request_)
    assert [each.id for each in client.evaluations()] == before  # nothing was asked for


def test_manifests_are_put_and_found_and_never_change(client: Client) -> None:
    text = (
        "name: mine\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: 'https://x.org/a.zip#a/'}]\n"
    )
    assert client.put_manifest(text)["name"] == "mine"
    assert client.put_manifest(text)["name"] == "mine"
    with pytest.raises(UsageError, match="it is another one"):
        client.put_manifest(text.replace("x.org", "y.org"))
    assert "mine" in [each["name"] for each in client.manifests("dataset", "mine")]
    assert client.get("/manifests/dataset/mine/1.0.0")["text"] == text
    with pytest.raises(ManifestError, match="a file of your machine"):
        client.put_manifest(text.replace("https://x.org/a.zip#a/", "/etc"))
    client.delete("/manifests/dataset/mine/1.0.0")
    assert client.manifests("dataset", "mine") == []


def test_a_running_evaluation_is_cancelled(lasting_world: World, client: Client) -> None:
    lasting_world.add_model("slow", sleep_s=0.2)
    (asked,) = client.ask({"model": "slow", "dataset": "pictures"})
    lasting_world.until(lambda: asked.refresh().state == "running", "it runs")
    asked.cancel()
    assert asked.wait().state == "cancelled"
    with pytest.raises(Exception, match="cancelled"):
        asked.record()


def test_what_fails_says_why(lasting_world: World, client: Client) -> None:
    lasting_world.add_model("broken")
    (lasting_world.place / "manifests" / "broken.json").write_text("no json")
    (asked,) = client.ask({"model": "broken", "dataset": "pictures", "attempts": 1})
    assert asked.wait().state == "failed" and "not JSON" in asked.facts["error"]["message"]


@pytest.mark.slow(reason="a server is stopped and started again while an evaluation runs")
def test_stopping_loses_nothing(world: World) -> None:
    world.write_model(sleep_s=0.1)
    server = world.serve()
    client = world.client(world.run("token", "make", "--owner", "ada", "--scope", "read", "--scope", "run"))
    (asked,) = client.ask({"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1, "warm_up_runs": 1}})
    world.until(lambda: (asked.refresh().facts["progress"] or {}).get("done", 0) > 3, "some samples are done")
    server.send_signal(signal.SIGTERM)
    assert server.wait(300) == 0 or server.returncode == -signal.SIGTERM
    with pytest.raises(ServerError, match="cannot be reached"):
        asked.refresh()
    world.serve()
    record = asked.wait().record()
    assert record.samples == 60 and record.attempts == 2


def test_outside_this_machine_a_token_must_be_there_first(world: World) -> None:
    process = world.start("serve", "--host", "0.0.0.0", "--port", str(world.port), home="server")
    assert process.wait(300) == 2 and "there is no token yet" in world.log("server")


def test_a_configuration_that_cannot_be_is_said(world: World) -> None:
    (world.place / "bad.yml").write_text("port: many\ncolour: red\n")
    code, _, complained = world.say("serve", "--config", str(world.place / "bad.yml"))
    assert code == 2 and "port: " in complained and "colour: " in complained


def test_the_command_line_works_on_a_server(lasting_world: World, client: Client, tmp_path: Path) -> None:
    lasting_world.add_model("commanded")

    def run(*words: str) -> str:
        return lasting_world.run(*words, "--server", lasting_world.url, home="elsewhere")

    shown = run("evaluate", "commanded", "pictures", "--limit", "20")
    assert "commanded" in shown and "top-1" in shown
    record = client.records(model="commanded", limit=1)[0]
    assert record["id"] in run("records")
    page = tmp_path / "report.html"
    run("report", record["id"], "--output", str(page))
    assert record["id"] in page.read_text(encoding="utf-8")
    profiled = run("profile", "commanded", "pictures", "--runs", "2", "--level", "model")
    assert "latency" in profiled
    benched = run("bench", "commanded", "pictures", "--budget", "0.5")
    assert "single-stream" in benched
    assert not (lasting_world.place / "elsewhere" / "records").exists()
    code, _, complained = lasting_world.say("doctor", "--server", lasting_world.url)
    assert code == 2 and "is done on this machine" in complained


def test_an_offer_to_speak_http_2_is_declined_and_the_question_answered(lasting_world: World) -> None:
    """Java's client makes it with every question."""
    body = b'{"text": "name: x"}'
    head = (
        "POST /api/v1/manifests HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        "HTTP2-Settings: AAEAAEAAAAIAAAAB\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", lasting_world.port), 300) as line:
        line.sendall(head.encode() + body)
        assert b"problem+json" in line.recv(4096)  # about the manifest, so it was read


def test_a_port_that_is_in_use_is_refused_before_anything_is_said(lasting_world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, printed, complained = lasting_world.say("serve", "--port", str(port))
    assert (code, printed) == (2, "")
    assert f"cannot listen on port {port} of 127.0.0.1: another program is using it" in complained
    assert "hint: choose another one: --port NUMBER" in complained and "Errno" not in complained
