"""A language model behind a server, evaluated as a user does: from manifests to a record, and every accident."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from language_world import write_documents
from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.errors import TrustError, WorkerError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.journal import has_answers
from mlmodelscope.report.report import FORMATS, write_report
from processes import children_of
from worker_package.predictor.language_server import LanguageServer

_QUICK = Options(batch_size=4, warm_up_runs=0, timed_runs=1)
_WORDS = ["cat", "elephant", "dog", "butterfly"]


@pytest.fixture
def server() -> Iterator[LanguageServer]:
    with LanguageServer() as started:
        yield started


def model(server: LanguageServer, **remote: Any) -> Any:
    return load_manifest(
        {
            "name": "toy",
            "version": "1.0.0",
            "task": "language_model",
            "framework": {"name": "openai"},
            "inputs": [{"type": "prompt", "processing": {"chat": {}} if remote.get("protocol") == "chat" else {}}],
            "remote": {"url": server.url, **remote},
        }
    )


def choices(folder: Path, count: int = 24) -> dict[str, Any]:
    """The shorter word is the right one, and the one that the server finds more likely."""
    pairs = itertools.islice(itertools.cycle([("cat", "elephant"), ("butterfly", "dog")]), count)
    rows = [{"place": place, "pair": list(pair), "right": int(pair[0] != "cat")} for place, pair in enumerate(pairs)]
    return {
        "name": "words",
        "version": "1.0.0",
        "task": "multiple_choice",
        "format": "documents",
        "sources": [{"url": str(write_documents(folder / "words.jsonl", rows))}],
        "prompt": {"question": "Case {{place}}: a small", "choices": ["{{pair}}"], "answer": "right"},
    }


def texts(folder: Path) -> dict[str, Any]:
    rows = [{"question": f"Count to {place}!", "answer": "one two three"} for place in range(6)]
    return {
        "name": "counts",
        "version": "1.0.0",
        "task": "text_generation",
        "format": "documents",
        "sources": [{"url": str(write_documents(folder / "counts.jsonl", rows))}],
        "prompt": {"question": "{{question}}", "answer": "{{answer}}", "system": "Be brief."},
        "ask": {"longest": 8, "stop": [" END"]},
    }


def rows_of(settings: Settings, record: Record) -> list[dict[str, Any]]:
    return list(Store(settings).samples(record).to_pylist())


def test_choices_are_made_by_a_server(settings: Settings, tmp_path: Path, server: LanguageServer) -> None:
    record = evaluate(model(server), load_manifest(choices(tmp_path)), _QUICK, settings=settings)
    assert (record.samples, record.failed) == (24, 0) and record.metrics["choice-accuracy"].value == 1.0
    assert record.server is not None and record.server.model_versions == ("toy",) and record.server.version == "v1"


@pytest.mark.parametrize("protocol", ["completions", "chat"])
def test_texts_are_written_by_a_server(
    settings: Settings, tmp_path: Path, server: LanguageServer, protocol: str
) -> None:
    record = evaluate(model(server, protocol=protocol), load_manifest(texts(tmp_path)), _QUICK, settings=settings)
    assert (record.samples, record.failed) == (6, 0)
    assert {row["text"] for row in rows_of(settings, record)} == {"one two three"}
    question = server.asked[0]
    if protocol == "chat":
        assert [each["role"] for each in question["messages"]] == ["system", "user"]
    else:
        assert question["prompt"].startswith("Be brief.") and question["stop"] == [" END"]


def test_every_accident_costs_waiting_and_no_sample(settings: Settings, tmp_path: Path, server: LanguageServer) -> None:
    wanted = evaluate(model(server), load_manifest(choices(tmp_path)), _QUICK, settings=settings)
    count = len(server.asked)
    server.seen.clear()
    server.faults = [
        lambda handler: handler.reply(429, b"", Retry_After="0"),
        lambda handler: handler.drop(),
        lambda handler: handler.reply(200, b"{"),
        lambda handler: handler.reply(503, b"", Retry_After="0"),
    ] * 2
    record = evaluate(model(server), load_manifest(choices(tmp_path)), _QUICK, settings=settings, again=True)
    assert (record.samples, record.failed) == (24, 0) and not server.faults
    assert rows_of(settings, record) == rows_of(settings, wanted)
    assert len(server.asked) == count + 8  # and nothing was asked twice that had been answered


def test_a_server_that_goes_away_is_asked_the_rest_when_it_is_back(
    settings: Settings, tmp_path: Path, server: LanguageServer
) -> None:
    dataset = load_manifest(choices(tmp_path, 200))
    options = Options(batch_size=4, warm_up_runs=0, timed_runs=1, predictor_options={"tries": 1})

    def tired(handler: Any) -> None:
        if handler.command == "GET" or len(server.asked) > 300:
            return handler.reply(503, b"") if len(server.asked) > 300 else handler.reply(200, {"data": []})
        return handler.good()

    server.always = tired
    with pytest.raises(WorkerError, match="503(?s:.*)the same command resumes where it left off"):
        evaluate(model(server), dataset, options, settings=settings)
    (row,) = Store(settings).list()
    assert row["status"] == "interrupted"
    server.always = None
    record = evaluate(model(server), dataset, options, settings=settings)
    assert record.id == row["id"] and (record.samples, record.failed) == (200, 0)
    assert [each["id"] for each in rows_of(settings, record)] == sorted(
        {each["id"] for each in rows_of(settings, record)}
    )


@pytest.mark.slow(reason="the command is started twice, each time with a worker of its own")
def test_a_killed_command_resumes_and_counts_nothing_twice(
    settings: Settings, tmp_path: Path, server: LanguageServer
) -> None:
    dataset = choices(tmp_path, 200)
    (tmp_path / "words.yml").write_text(yaml.safe_dump(dataset))
    data = {
        "name": "toy",
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": "openai"},
        "inputs": [{"type": "prompt", "processing": {}}],
        "remote": {"url": server.url},
    }
    (tmp_path / "toy.yml").write_text(yaml.safe_dump(data))
    words = [sys.executable, "-m", "mlmodelscope", "evaluate", str(tmp_path / "toy.yml"), str(tmp_path / "words.yml")]
    words += ["--batch-size", "2", "--json"]
    environment = {**os.environ, "HOME": str(tmp_path), "MLMODELSCOPE_HOME": str(settings.home)}
    killed: list[int] = []

    def fatal(handler: Any) -> None:
        """In the middle of a question, host and worker are killed; some answers have been written down by then."""
        if not killed and any(map(has_answers, settings.home.rglob("journal"))):
            killed.append(len(server.asked))
            for each in [process.pid, *children_of(process.pid)]:
                os.kill(each, signal.SIGKILL)
            return handler.drop()
        return handler.good() if handler.command == "POST" else handler.reply(200, {"data": []})

    server.always = fatal
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.wait(300)
    assert killed and process.returncode == -signal.SIGKILL
    server.seen.clear()
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    (found,) = Store(settings).list()
    assert found["status"] == "finished" and (record["samples"], record["failed"]) == (200, 0)
    names = [each["id"] for each in rows_of(settings, Store(settings).get(found["id"]))]
    assert len(names) == len(set(names)) == 200
    asked = {each["prompt"] for each in server.asked}
    assert len(asked) < 400  # what had been written down is not asked again


def test_the_key_is_in_nothing_that_is_kept(
    settings: Settings, tmp_path: Path, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_API_KEY", "sk-very-secret-indeed")
    server.words = "my key is sk-very-secret-indeed"
    seen: list[bytes] = []

    def listening(handler: Any) -> None:
        seen.extend(map(_command_line, Path("/proc").glob("[0-9]*/cmdline")))
        if handler.command == "POST":
            handler.good()
        else:
            handler.reply(200, {"data": []})

    server.always = listening
    dataset = load_manifest(texts(tmp_path))
    asked = model(server, token_variable="TOY_API_KEY")
    record = evaluate(asked, dataset, _QUICK, settings=settings, trust=True)
    assert "TOY_API_KEY" in record.model_dump_json() and record.failed == 0
    assert server.headers[-1]["Authorization"] == "Bearer sk-very-secret-indeed"
    assert any(seen) and not any(b"sk-very-secret" in each for each in seen)
    for form in FORMATS:
        told = write_report(record, Store(settings), ArtifactStore(settings), form)
        assert "sk-very-secret" not in told and told
    server.always = lambda handler: handler.reply(401, {"error": "Wrong key sk-very-secret-indeed"})
    with pytest.raises(WorkerError, match="Wrong key …") as caught:
        evaluate(asked, dataset, _QUICK, settings=settings, trust=True, again=True)
    assert "sk-very-secret" not in str(caught.value)
    for path in settings.home.rglob("*"):
        assert not path.is_file() or b"sk-very-secret" not in path.read_bytes()


def _command_line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended by now
        return b""


def test_a_manifest_that_names_a_variable_needs_trust(
    settings: Settings, tmp_path: Path, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(TrustError, match="secret-sending code that is not trusted: remote"):
        evaluate(
            model(server, token_variable="AWS_SECRET_ACCESS_KEY"),
            load_manifest(texts(tmp_path)),
            _QUICK,
            settings=settings,
        )
    assert server.headers == []


def test_keys_of_other_servers_are_refused(server: LanguageServer) -> None:
    with pytest.raises(Exception, match=r"`remote.config` goes with `framework: \{name: remote\}`"):
        model(server, config={"a": 1})
    with pytest.raises(Exception, match="not a valid|protocol"):
        model(server, protocol="telepathy")


def test_a_chat_that_is_to_score_is_refused_before_anything_is_asked(
    settings: Settings, tmp_path: Path, server: LanguageServer
) -> None:
    with pytest.raises(WorkerError, match="say `protocol: completions`"):
        evaluate(model(server, protocol="chat"), load_manifest(choices(tmp_path)), _QUICK, settings=settings)
    assert server.seen == []
