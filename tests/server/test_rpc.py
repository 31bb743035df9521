"""gRPC as other people's programs use it: a real server, a real channel, and code that protoc makes of our files."""

from __future__ import annotations

import importlib
import json
import signal
import socket
import ssl
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools is not installed")
pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.server.rpc.convert import plain  # noqa: E402
from mlmodelscope.server.rpc.messages import COMPILED, Method, methods  # noqa: E402

from .conftest import World, free_port  # noqa: E402

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "mlmodelscope" / "server" / "rpc"
TOY = {"model": {"name": "toy"}, "dataset": {"name": "pictures"}}
DATASET = (
    "name: mine\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: 'https://x.org/a.zip#a/'}]\n"
)

NOT_OVER_GRPC = {
    "health": "grpc.health.v1 answers instead",
    "ready": "grpc.health.v1 answers instead",
    "get_metrics": "Prometheus reads HTTP",
    "list_tokens": "tokens are made at the command line or over HTTP",
    "make_token": "tokens are made at the command line or over HTTP",
    "revoke_token": "tokens are made at the command line or over HTTP",
    "look_up_artifact": "AnnounceArtifact says the same",
    "take_spans": "OpenTelemetry's own TraceService takes them",
    "push_bundle": "bundles are long: they go over HTTP",
    "read_audit": "for administrators, who have the other interface",
    "compare_records": "tables and figures for pages, which JSON carries well",
    "get_overview": "tables and figures for pages, which JSON carries well",
    "get_timeline": "ListSpans tells the same, span by span",
    "get_span": "ListSpans tells the same",
    "get_flames": "ExportTrace has them as folded stacks",
    "list_names": "ListSpans tells the same, span by span",
    "list_analyses": "tables and figures for pages, which JSON carries well",
    "begin_manifest": "a model file is a long body, which HTTP carries well",
    "get_classes": "GetRecord has it by class, GetSamples the samples",
    "get_record_claims": "GetRecord has the claims and the numbers",
    "get_record_request": "GetRecord has the plan",
    "get_record_manifests": "for the editor; GetRecord has the plan that was made from them",
    "get_sample_shapes": "shapes lie over pictures, which are for browsers",
    "get_sample_picture": "pictures are for browsers",
    "get_dataset_samples": "for browsers, to pick one from",
    "get_dataset_input": "a text or a row of a sample, for browsers",
    "get_dataset_sound": "sounds are for browsers",
    "get_dataset_classes": "for browsers, to search",
    "get_model_facts": "for the card of a model; GetManifest has what it is made from",
    "get_model_network": "a drawing of layers, for browsers",
    "list_results": "tables and figures for pages, which JSON carries well",
    "get_dataset_picture": "pictures are for browsers",
    "get_sample_content": "for browsers, to ask about one",
    "get_sample_input": "for browsers, which show a text, a row or a waveform",
    "get_sample_sound": "sounds are for browsers",
    "get_sample_heard": "pictures are for browsers",
    "get_sample_prompt": "for browsers, which color tokens; a record's tables have them",
    "get_record_residuals": "tables and figures for pages, which JSON carries well",
    "list_record_choices": "for pages, to pick filters from",
    "get_remarks": "people write on pages, and read there",
    "add_tag": "people write on pages, and read there",
    "remove_tag": "people write on pages, and read there",
    "add_note": "people write on pages, and read there",
    "remove_note": "people write on pages, and read there",
    "list_leaderboards": "tables and figures for pages, which JSON carries well",
    "get_leaderboard": "tables and figures for pages, which JSON carries well",
    "delete_evaluation": "lists are tidied on pages; records stay",
    "list_published_claims": "facts of sources, which every installation has itself; ListClaims has those of manifests",
    "list_checks": "GetReplication has the verdict and its evidence",
    "list_described_models": "facts of sources, which every installation has itself",
    "get_limits": "gRPC says itself what is too long",
}
"""Operations that stay with REST, beside those for agents, which speak HTTP."""
ONLY_OVER_GRPC = {"PredictMany": "HTTP has no answers in the middle of a question; there one asks again"}

SAME_FIELDS = {
    "Somebody": "Somebody",
    "Manifest": "Manifest",
    "Resolution": "Resolution",
    "Obstacle": "Obstacle",
    "Accepted": "Accepted",
    "Earlier": "Earlier",
    "ModelClaim": "ModelClaim",
    "ClaimVerdict": "ClaimVerdict",
    "ClaimCheck": "ClaimCheck",
    "Replication": "Replication",
    "SensitivityOf": "SensitivityOf",
    "TriedRound": "TriedRound",
    "TriedVariant": "TriedVariant",
    "Checked": "Checked",
    "LintFinding": "LintFinding",
    "Converted": "Converted",
    "Version": "Version",
    "ListedModel": "ListedModel",
    "ModelPage": "ModelPage",
    "ListedDataset": "ListedDataset",
    "Framework": "Framework",
    "Stack": "Stack",
    "AgentMachine": "AgentMachine",
    "Evaluation": "Evaluation",
    "Progress": "Progress",
    "EvaluationPage": "EvaluationPage",
    "RecordSummary": "RecordSummary",
    "Record": "Record",
    "MeasuredNumber": "MeasuredNumber",
    "Headline": "Headline",
    "Latency": "LatencyRecord",
    "Interval": "Interval",
    "Sample": "Sample",
    "SamplePage": "SamplePage",
    "Agent": "Agent",
    "Prediction": "Prediction",
    "Request": "Request",
    "Where": "Where",
    "FrameworkChoice": "FrameworkChoice",
    "ArtifactUpload": "ArtifactUpload",
    "Artifact": "Artifact",
    "ArtifactPage": "ArtifactPage",
    "TraceSummary": "TraceSummary",
    "TraceDetails": "TraceDetails",
    "TracePage": "TracePage",
    "TraceSpan": "TraceSpan",
    "SpanPage": "SpanPage",
    "KeyList": "KeyList",
    "Signer": "Signer",
    "Origin": "Origin",
    "Pinned": "Pinned",
}
"""Messages, and the schemas of openapi.json that say the same."""


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """What protoc makes of the published files."""
    place = tmp_path_factory.mktemp("generated")
    words = [
        f"-I{SOURCES}",
        f"-I{files('grpc_tools') / '_proto'}",
        f"--python_out={place}",
        f"--grpc_python_out={place}",
    ]
    assert protoc.main(["protoc", *words, "mlmodelscope.proto", "health.proto"]) == 0
    sys.path.insert(0, str(place))
    names = ("mlmodelscope_pb2", "mlmodelscope_pb2_grpc", "health_pb2", "health_pb2_grpc")
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(place))


class Caller:
    """Every method of every service, by its name."""

    def __init__(self, code: SimpleNamespace, address: str, token: str | None = None, channel: Any = None) -> None:
        self.code, self.messages = code, code.mlmodelscope_pb2
        self.channel = channel or grpc.insecure_channel(address)
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    def stub(self, method: Method) -> Callable[..., Any]:
        file = self.code.health_pb2_grpc if method.service.startswith("grpc.") else self.code.mlmodelscope_pb2_grpc
        made = getattr(file, method.service.rpartition(".")[2] + "Stub")(self.channel)
        call: Callable[..., Any] = getattr(made, method.name)
        return call

    def __call__(self, method_: str, /, metadata: Any = None, **fields: Any) -> Any:
        method = next(each for each in methods() if each.name == method_)
        file = self.code.health_pb2 if method.service.startswith("grpc.") else self.messages
        asked = getattr(file, method.asked.DESCRIPTOR.name)(**fields)
        return self.stub(method)(asked, metadata=self._metadata if metadata is None else metadata, timeout=300)

    def ask(self, **more: Any) -> str:
        return str(self("AskForWork", request={**TOY, **more}).evaluations[0].id)

    def read(self, method_: str, /, **fields: Any) -> bytes:
        return b"".join(chunk.data for chunk in self(method_, **fields))

    def close(self) -> None:
        self.channel.close()


@pytest.fixture
def make_caller(code: SimpleNamespace) -> Iterator[Callable[..., Caller]]:
    made: list[Caller] = []

    def make(*arguments: Any, **more: Any) -> Caller:
        made.append(Caller(code, *arguments, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


def host(world: World, **config: Any) -> str:
    port = free_port()
    world.host(rpc_port=port, **config)
    return f"127.0.0.1:{port}"


def problem_of(call: pytest.ExceptionInfo[Any]) -> dict[str, Any]:
    return dict(json.loads(dict(call.value.trailing_metadata())["problem-bin"]))


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str]]:
    world = World(tmp_path_factory.mktemp("world"))
    address = host(world)
    world.client()
    yield world, address
    world.close()
    assert "Traceback" not in world.log("server")


@pytest.fixture
def caller(lasting: tuple[World, str], make_caller: Callable[..., Caller]) -> Caller:
    return make_caller(lasting[1])


# What there is --------------------------------------------------------------------------------------------------------


def test_the_compiled_descriptions_are_those_of_the_proto_files() -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    specification = importlib.util.spec_from_file_location("make_rpc", ROOT / "tools" / "make_rpc.py")
    assert specification and specification.loader
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)

    def ours(text: bytes) -> list[Any]:  # the files that they import are as old or new as protobuf is
        return [file for file in FileDescriptorSet.FromString(text).file if not file.name.startswith("google/")]

    assert ours(tool.compile_descriptions()) == ours(COMPILED.read_bytes()), "run tools/make_rpc.py"


def test_every_rest_operation_has_a_method_or_a_reason(lasting: tuple[World, str]) -> None:
    document = lasting[0].http.get("/openapi.json").json()
    operations = [each for path in document["paths"].values() for each in path.values()]
    names = {each["operationId"] for each in operations if "for agents" not in each["tags"]}
    ours = {method.name for method in methods() if method.service.startswith("mlmodelscope.")} - set(ONLY_OVER_GRPC)
    camel = {name: "".join(word.capitalize() for word in name.split("_")) for name in names - set(NOT_OVER_GRPC)}
    assert set(camel.values()) == ours, "give it a method in mlmodelscope.proto, or a reason in NOT_OVER_GRPC"
    assert set(NOT_OVER_GRPC) <= names


def test_messages_have_the_fields_of_openapi(lasting: tuple[World, str], caller: Caller) -> None:
    schemas = lasting[0].http.get("/openapi.json").json()["components"]["schemas"]
    for message, schema in SAME_FIELDS.items():
        ours = set(getattr(caller.messages, message).DESCRIPTOR.fields_by_name)
        if message == "Progress":  # of a training; the schema is open
            ours.remove("metrics")
        # `licence` is what older clients read over HTTP, for one minor version.
        assert ours == set(schemas[schema]["properties"]) - {"licence"}, message


# What it does ---------------------------------------------------------------------------------------------------------


def same(message: Any, document: Any) -> bool:
    """Whether gRPC says what REST says, apart from how moments and what is not there are written."""
    left, right = _normal(plain(message)), _normal(document)
    assert left == right
    return True


def _normal(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _normal(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in (None, False, 0, "", [], {})}
    if isinstance(value, list):
        return [_normal(inner) for inner in value]
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return value
        return moment.replace(tzinfo=None)
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def test_an_evaluation_from_question_to_bundle_is_what_rest_says(lasting: tuple[World, str], caller: Caller) -> None:
    http, model = lasting[0].http, lasting[0].add_model("bundled")
    request = {
        "model": {"name": model},
        "dataset": {"name": "pictures"},
        "options": {"limit": 20, "timed_runs": 2},
        "priority": 0,
    }
    accepted = caller("AskForWork", request=request, idempotency_key="once")
    (asked,) = accepted.evaluations
    assert caller("AskForWork", request=request, idempotency_key="once").id == accepted.id
    kinds = [event.kind for event in caller("FollowEvaluation", id=asked.id)]
    assert (kinds[0], kinds[1], kinds[-1]) == ("waiting", "running", "finished") and "progress" in kinds
    done = caller("GetEvaluation", id=asked.id)
    assert done.state == "finished" and done.priority == 0
    assert same(done, http.get(f"/evaluations/{asked.id}").json())
    record = caller("GetRecord", name=done.record)
    assert record.samples == 20 and "top1" in record.metrics and record.latency.raw_ns
    assert same(record, http.get(f"/records/{record.id}").json())
    assert same(caller("ListRecords", model=model, status="finished"), http.get(f"/records?model={model}").json())
    page = caller("GetSamples", name=record.id, start=10, limit=5)
    assert page.total == 20 and len(page.items) == 5
    assert same(page, http.get(f"/records/{record.id}/samples?start=10&limit=5").json())
    assert all(not each.right for each in caller("GetSamples", name=record.id, only="wrong").items)
    narrowed = {"q": "class1", "above": 0.05, "sort": "score", "descending": True}
    page = caller("GetSamples", name=record.id, **narrowed)
    assert same(page, http.get(f"/records/{record.id}/samples", params=narrowed).json())
    table = http.get(f"/records/{record.id}/report?form=parquet").content
    assert caller.read("GetReport", name=record.id, form="parquet") == table
    for form in ("html", "md", "json", "csv"):
        text = http.get(f"/records/{record.id}/report?form={form}").text
        assert caller.read("GetReport", name=record.id, form=form).decode() == text
    assert caller.read("GetLog", name=record.id).decode() == http.get(f"/records/{record.id}/log").text
    assert zipfile.ZipFile(BytesIO(caller.read("GetBundle", name=record.id))).testzip() is None


def test_agents_and_resolutions_are_what_rest_says(lasting: tuple[World, str], caller: Caller) -> None:
    http = lasting[0].http
    (agent,) = caller("ListAgents").items
    found, expected = caller("GetAgent", id=agent.id), http.get(f"/agents/{agent.id}").json()
    found.ClearField("seen_at"), expected.pop("seen_at")
    assert same(found, expected)
    impossible = {**TOY, "where": {"hardware": {"interconnect": "nvlink"}, "labels": {"room": "3"}}}
    resolution = caller("ResolveRequest", request=impossible)
    body = {"model": "toy", "dataset": "pictures", "where": impossible["where"]}
    assert same(resolution, http.post("/requests/resolve", json=body).json())
    assert {each.constraint for each in resolution.obstacles} == {"interconnect", "label room"}
    with pytest.raises(grpc.RpcError, match="no agent meets it") as wrong:
        caller("AskForWork", request=impossible)
    assert wrong.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert problem_of(wrong)["resolution"]["agents"] == 1


def test_evaluations_come_in_pages(lasting: tuple[World, str], caller: Caller) -> None:
    """They wait for an agent that never comes, which is enough to be listed."""
    model = lasting[0].add_model("paged")
    waits = {"model": {"name": model}, "where": {"labels": {"room": "none"}}, "wait_for_agent": True}
    asked = [caller.ask(**waits, options={"limit": 1, "seed": seed}) for seed in range(5)]
    seen, after = [], ""
    while True:
        page = caller("ListEvaluations", model=model, limit=2, after=after)
        seen += [each.id for each in page.items]
        if not page.HasField("next"):
            break
        after = page.next
    assert seen == asked[::-1]
    assert caller("ListEvaluations", owner="nobody").items == []
    assert {
        each.id for each in caller("ListEvaluations", request=caller("GetEvaluation", id=asked[0]).request).items
    } == {asked[0]}
    for each in asked:
        caller("CancelEvaluation", id=each)


def test_manifests_are_put_and_found_and_never_change(lasting: tuple[World, str], caller: Caller) -> None:
    assert caller("PutManifest", text=DATASET).name == "mine"
    assert caller("PutManifest", text=DATASET).text == DATASET
    with pytest.raises(grpc.RpcError, match="it is another one") as taken:
        caller("PutManifest", text=DATASET.replace("x.org", "y.org"))
    assert taken.value.code() is grpc.StatusCode.ALREADY_EXISTS
    (found,) = caller("ListManifests", kind="dataset", q="mine").items
    assert found.owner == "local" and not found.text
    key = {"kind": "dataset", "name": "mine", "version": "1.0.0"}
    http = lasting[0].http
    assert same(caller("GetManifest", **key), http.get("/manifests/dataset/mine/1.0.0").json())
    assert same(caller("ListManifests", kind="model", q="toy"), http.get("/manifests/model?q=toy").json())
    caller("DeleteManifest", **key)
    assert caller("ListManifests", kind="dataset", q="mine").items == []


@pytest.mark.parametrize(
    ("name", "fields", "code_", "words"),
    [
        ("GetEvaluation", {"id": "e1"}, "NOT_FOUND", "there is no evaluation `e1`"),
        ("GetEvaluation", {}, "INVALID_ARGUMENT", "`id` is missing"),
        ("GetEvaluation", {"id": "x" * 301}, "INVALID_ARGUMENT", "300 are the most"),
        ("GetEvaluation", {"id": "a\0b"}, "INVALID_ARGUMENT", "NUL"),
        ("FollowEvaluation", {"id": "e1"}, "NOT_FOUND", "there is no evaluation"),
        ("FollowEvaluation", {"id": "e1", "after": -1}, "INVALID_ARGUMENT", "number of an event"),
        ("CancelEvaluation", {"id": "e1"}, "NOT_FOUND", "there is no evaluation"),
        ("ListEvaluations", {"limit": 1001}, "INVALID_ARGUMENT", "from 1 to 1000"),
        ("ListEvaluations", {"after": "?"}, "INVALID_ARGUMENT", "not where a page ended"),
        ("ListEvaluations", {"state": "lost"}, "INVALID_ARGUMENT", "known: waiting, running"),
        ("GetRecord", {"name": "nothing"}, "NOT_FOUND", "nothing"),
        ("GetSamples", {"name": "latest", "start": -1}, "INVALID_ARGUMENT", "`start`"),
        ("GetReport", {"name": "latest", "form": "pdf"}, "INVALID_ARGUMENT", "html, md, json, csv"),
        ("GetBundle", {"name": "nothing"}, "NOT_FOUND", "nothing"),
        ("GetManifest", {"kind": "model", "name": "no", "version": "1.0.0"}, "NOT_FOUND", "there is no model"),
        ("ListManifests", {"kind": "song"}, "NOT_FOUND", "there is no kind of manifest"),
        ("PutManifest", {"text": "a: ["}, "INVALID_ARGUMENT", "request"),
        ("GetAgent", {"id": "no"}, "NOT_FOUND", "there is no agent"),
        ("DrainAgent", {"id": "no"}, "PERMISSION_DENIED", "scope `admin`"),
        ("DeleteRecord", {"name": "latest"}, "PERMISSION_DENIED", "scope `admin`"),
        ("AskForWork", {}, "INVALID_ARGUMENT", "not as it should be"),
        ("AskForWork", {"request": {"model": {"name": "nothing"}}}, "NOT_FOUND", "there is no model"),
        ("AskForWork", {"request": {**TOY, "kind": "dance"}}, "INVALID_ARGUMENT", "not as it should be"),
        ("AskForWork", {"request": {**TOY, "trust": True}}, "PERMISSION_DENIED", "scope `trust`"),
        ("AskForWork", {"request": TOY, "idempotency_key": "x" * 201}, "INVALID_ARGUMENT", "200 are the most"),
    ],
)
def test_what_is_wrong_has_a_code_and_a_problem(
    caller: Caller, name: str, fields: dict[str, Any], code_: str, words: str
) -> None:
    with pytest.raises(grpc.RpcError) as wrong:
        found = caller(name, **fields)
        list(found) if hasattr(found, "__iter__") else None
    assert wrong.value.code().name == code_ and words in wrong.value.details()
    problem = problem_of(wrong)
    assert problem["detail"] == wrong.value.details() and problem["request_id"]


def test_problems_of_manifests_say_where_and_never_grow_too_long(caller: Caller) -> None:
    with pytest.raises(grpc.RpcError) as wrong:
        caller("PutManifest", text=DATASET.replace("https://x.org/a.zip#a/", "/etc"))
    (problem,) = problem_of(wrong)["problems"]
    assert problem["path"] == "sources[0].url" and "URL" in problem["hint"]
    many = DATASET + "".join(f"colour{number}: grün\n" for number in range(500))
    with pytest.raises(grpc.RpcError) as wrong:
        caller("PutManifest", text=many)
    assert wrong.value.code() is grpc.StatusCode.INVALID_ARGUMENT and "colour0" in wrong.value.details()
    assert problem_of(wrong)["title"] == "ManifestError"


def test_bytes_that_are_no_message_are_refused(caller: Caller) -> None:
    call = caller.channel.unary_unary("/mlmodelscope.v1.Evaluations/GetEvaluation")
    with pytest.raises(grpc.RpcError) as wrong:
        call(b"\xff\xff\xff", timeout=300)
    assert wrong.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_health_is_for_everybody(caller: Caller) -> None:
    serving = caller.code.health_pb2.HealthCheckResponse.SERVING
    assert caller("Check").status == serving
    assert caller("Check", service="mlmodelscope.v1.Evaluations").status == serving
    watching = caller("Watch")
    assert next(watching).status == serving
    watching.cancel()
    with pytest.raises(grpc.RpcError) as wrong:
        caller("Check", service="songs")
    assert wrong.value.code() is grpc.StatusCode.NOT_FOUND


# Who may --------------------------------------------------------------------------------------------------------------


def test_a_stranger_is_refused_by_every_method_but_health(world: World, make_caller: Callable[..., Caller]) -> None:
    caller = make_caller(host(world, require_token=True, executor="none"))
    for method in methods():
        for shown in ((), (("authorization", "Bearer mlms_wrong"),), (("authorization", "Basic eDp4"),)):
            call = caller.channel.unary_stream(method.path)
            if method.service == "grpc.health.v1.Health":
                answers = call(b"", metadata=shown, timeout=300)
                assert next(answers)
                answers.cancel()
                continue
            with pytest.raises(grpc.RpcError) as refused:
                list(call(b"", metadata=shown, timeout=300))
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED, method.path
    assert len(methods()) >= 23


def test_a_token_does_what_its_scopes_say(world: World, make_caller: Callable[..., Caller]) -> None:
    reader, admin = world.token("read", owner="ada"), world.token("admin", owner="root")
    address = host(world, require_token=True)
    ada, root = make_caller(address, reader), make_caller(address, admin)
    assert ada("WhoAmI").owner == "ada" and list(ada("WhoAmI").scopes) == ["read"]
    world.until(lambda: ada("ListAgents").items, "an agent has joined")
    for name, fields in (
        ("AskForWork", {"request": TOY}),
        ("PutManifest", {"text": DATASET}),
        ("CancelEvaluation", {"id": "e1"}),
    ):
        with pytest.raises(grpc.RpcError) as refused:
            ada(name, **fields)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED and problem_of(refused)["scope"] == "run"
    asked = root.ask(options={"limit": 5})
    assert [event.kind for event in ada("FollowEvaluation", id=asked)][-1] == "finished"
    record = ada("GetEvaluation", id=asked).record
    root("DeleteRecord", name=record)
    assert ada("ListRecords").items == []
    (agent,) = ada("ListAgents").items
    assert root("DrainAgent", id=agent.id).state == "draining"
    assert root("DrainAgent", id=agent.id, draining=False).state == "online"
    assert reader not in world.logs() and admin not in world.logs()


@pytest.mark.parametrize("key", ["origin", "x-forwarded-for", "forwarded"])
def test_only_programs_on_this_machine_are_local(caller: Caller, key: str) -> None:
    assert caller("WhoAmI").owner == "local"
    with pytest.raises(grpc.RpcError) as refused:
        caller("WhoAmI", metadata=((key, "https://evil.example"), ("host", "https://evil.example")))
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_messages_and_questions_have_limits(world: World, make_caller: Callable[..., Caller]) -> None:
    caller = make_caller(host(world, executor="none", largest_body=1000, requests_per_minute=3))
    with pytest.raises(grpc.RpcError) as large:
        caller("PutManifest", text="x" * 2000)
    assert large.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    with pytest.raises(grpc.RpcError, match="too many questions") as many:
        for _ in range(100):
            caller("WhoAmI")
    assert many.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert int(dict(many.value.trailing_metadata())["retry-after"]) >= 1


def test_with_tls_files_it_speaks_tls(world: World, make_caller: Callable[..., Caller]) -> None:
    key, certificate = world.place / "key.pem", world.place / "certificate.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(["openssl", *words.split(), *names], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl, which would make a certificate, is not installed")
    address = host(world, executor="none", tls_certificate=str(certificate), tls_key=str(key))
    credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
    caller = make_caller("", channel=grpc.secure_channel(address, credentials))
    grpc.channel_ready_future(caller.channel).result(300)
    assert caller("WhoAmI").owner == "local"
    with pytest.raises(grpc.RpcError):
        make_caller(address)("WhoAmI")
    over_rest = httpx.get(
        f"https://127.0.0.1:{world.port}/api/v1/whoami", verify=ssl.create_default_context(cafile=certificate)
    )
    assert over_rest.json()["owner"] == "local" and "strict-transport-security" in over_rest.headers


def test_a_port_that_is_taken_is_said(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (world.place / "server.yml").write_text(json.dumps({"port": world.port, "rpc_port": port, "executor": "none"}))
        process = world.start("serve", "--config", str(world.place / "server.yml"), home="server")
        assert process.wait(300) != 0
    assert f"cannot listen on port {port} of 127.0.0.1: another program is using it" in world.log("server")
    assert "--rpc-port NUMBER" in world.log("server")


# Streams --------------------------------------------------------------------------------------------------------------


def test_a_stream_is_taken_up_where_it_broke(caller: Caller) -> None:
    asked = caller.ask(again=True, options={"limit": 3})
    every = [event.number for event in caller("FollowEvaluation", id=asked)]
    assert every == sorted(set(every)) and len(every) >= 3
    broken = caller("FollowEvaluation", id=asked)
    first = next(broken)
    broken.cancel()
    assert [event.number for event in caller("FollowEvaluation", id=asked, after=first.number)] == every[1:]
    assert list(caller("FollowEvaluation", id=asked, after=every[-1])) == []


@pytest.mark.slow(reason="a server is stopped and started again while an evaluation runs")
def test_a_server_that_stops_ends_its_streams_and_goes_on_later(
    world: World, make_caller: Callable[..., Caller]
) -> None:
    world.write_model(sleep_s=0.1)
    port = free_port()
    server = world.serve(rpc_port=port)
    world.client()
    caller = make_caller(f"127.0.0.1:{port}")
    asked = caller.ask(options={"timed_runs": 1, "warm_up_runs": 1})
    watching, happening, seen = caller("Watch"), caller("FollowEvaluation", id=asked), []
    assert next(watching).status == caller.code.health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError, match="the server stops") as stopped:
        for event in happening:
            seen.append((event.number, event.kind))
            if event.kind == "progress" and server.poll() is None:
                server.send_signal(signal.SIGTERM)
    assert stopped.value.code() is grpc.StatusCode.UNAVAILABLE
    assert next(watching).status == caller.code.health_pb2.HealthCheckResponse.NOT_SERVING
    assert server.wait(300) in (0, -signal.SIGTERM)
    assert "Traceback" not in world.log("server")
    world.serve(rpc_port=port)
    again = make_caller(f"127.0.0.1:{port}")
    seen += [(event.number, event.kind) for event in again("FollowEvaluation", id=asked, after=seen[-1][0])]
    assert seen == [(event.number, event.kind) for event in again("FollowEvaluation", id=asked)]
    assert seen[-1][1] == "finished" and again("GetRecord", name="latest").samples == 60


def test_a_running_evaluation_is_cancelled(lasting: tuple[World, str], caller: Caller) -> None:
    asked = caller.ask(model={"name": lasting[0].add_model("slow", sleep_s=0.2)})
    for event in caller("FollowEvaluation", id=asked):
        if event.kind == "running":
            assert caller("CancelEvaluation", id=asked).cancelling
    assert event.kind == "cancelled" and caller("GetEvaluation", id=asked).state == "cancelled"


def test_the_last_event_of_what_failed_says_why(lasting: tuple[World, str], caller: Caller) -> None:
    model = lasting[0].add_model("broken")
    (lasting[0].place / "manifests" / "broken.json").write_text("no json")
    asked = caller.ask(model={"name": model}, attempts=1)
    *_, last = caller("FollowEvaluation", id=asked)
    assert last.kind == "failed" and "not JSON" in last.facts["message"] and last.facts["error"] == "WorkerError"
    assert "not JSON" in caller("GetEvaluation", id=asked).error.message
