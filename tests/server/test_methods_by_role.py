"""Every gRPC method, asked by everybody: the same people may do the same as over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.record.record import Record  # noqa: E402
from mlmodelscope.server.rpc.convert import fill  # noqa: E402
from mlmodelscope.server.rpc.messages import Method, methods  # noqa: E402

from .conftest import World, free_port  # noqa: E402
from .inside import Inside  # noqa: E402
from .roles import ELSEWHERE, MODEL, NEEDS, Own, everybody  # noqa: E402
from .route_table import ROWS  # noqa: E402

Fields = Callable[[Own, Record], Mapping[str, Any]]
TOY = {"model": {"name": "toy"}, "dataset": {"name": "pictures"}, "wait_for_agent": True}
CLAIM = {**TOY, "kind": "replicate", "arguments": {"claim": "top1=50", "explain": False}}
QUESTION = {"question": {"model": {"name": "toy"}, "where": {"agent": "nobody"}}, "input": {"text": "x"}}


def _own(**parts: str) -> Fields:
    """Fields that name something of whoever asks."""
    return lambda own, record: {field: getattr(own, part) for field, part in parts.items()}


def _record(**more: Any) -> Fields:
    return lambda own, record: {"name": record.id, **more}


def _fixed(**fields: Any) -> Fields:
    return lambda own, record: fields


def _model(own: Own) -> dict[str, str]:
    return {"kind": "model", "name": own.manifest}


OWN_NEEDS = {"Check": "nothing", "Watch": "nothing", "Export": "run", "PredictMany": "run"}
"""Of methods that REST calls otherwise, or does not have; all others need what their route needs."""
ASKED: dict[str, Fields] = {
    "Check": _fixed(),
    "Watch": _fixed(),
    "WhoAmI": _fixed(),
    "ListManifests": _fixed(kind="model"),
    "GetManifest": lambda own, record: {**_model(own), "version": "1.0.0"},
    "PutManifest": lambda own, record: {"text": MODEL.format(name=f"rpc-{own.manifest}-{own.agent}")},
    "ResolveRequest": _fixed(request=TOY),
    "AskForWork": _fixed(request=TOY),
    "ListEvaluations": _fixed(),
    "GetEvaluation": _own(id="waiting"),
    "CancelEvaluation": _own(id="waiting"),
    "FollowEvaluation": _own(id="ended"),
    "ListRecords": _fixed(),
    "GetRecord": _record(),
    "GetSamples": _record(),
    "GetReport": _record(form="md"),
    "GetLog": _record(),
    "GetBundle": _record(),
    "ListKeys": _fixed(),
    "GetOrigin": _record(),
    "PinRecord": _record(pinned=True),
    "ListAgents": _fixed(),
    "GetAgent": _own(id="agent"),
    "DrainAgent": lambda own, record: {"id": own.agent, "draining": False},
    "Predict": _fixed(**QUESTION),
    "PredictMany": _fixed(**QUESTION),
    "AnnounceArtifact": lambda own, record: {"sha256": own.digest, "size": 1, "name": "x"},
    "SendArtifact": lambda own, record: {"digest": own.digest, "offset": 0},
    "GetArtifact": _own(digest="digest"),
    "ListArtifacts": _fixed(),
    "ListTraces": _fixed(),
    "GetTrace": _own(id="trace"),
    "ListSpans": _own(id="trace"),
    "ExportTrace": lambda own, record: {"id": own.trace, "format": "csv"},
    "ListClaims": _fixed(),
    "AskForReplication": _fixed(request=CLAIM),
    "ListReplications": _fixed(),
    "GetReplication": _own(id="waiting"),
    "GetFlippedSamples": _own(id="waiting"),
    "GetEvidencePicture": lambda own, record: {"id": own.waiting, "name": "a.png"},
    "GetReplicationReport": _own(id="waiting"),
    "AskForSensitivity": _fixed(request={**TOY, "kind": "sensitivity"}),
    "ListSensitivities": _fixed(),
    "GetSensitivity": _own(id="waiting"),
    "CheckManifest": _fixed(text=MODEL.format(name="x")),
    "ConvertManifest": _fixed(text=MODEL.format(name="x")),
    "GetManifestSchema": _fixed(kind="model"),
    "ListVersions": lambda own, record: _model(own),
    "ListModels": _fixed(),
    "ListDatasets": _fixed(),
    "ListFrameworks": _fixed(),
    "ListStacks": _fixed(),
    "ListMachines": _fixed(),
    "ListMetrics": _fixed(),
    "Export": _fixed(),
    # What is gone afterwards.
    "DeleteArtifact": _own(digest="digest"),
    "DeleteTrace": _own(id="trace"),
    "DeleteManifest": lambda own, record: {**_model(own), "version": "1.0.0"},
    "DeleteRecord": _record(),
}


def needs_of(method: str) -> str:
    routes = {"".join(word.capitalize() for word in name.split("_")): row.needs for name, row in ROWS.items()}
    return OWN_NEEDS.get(method) or routes[method]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, Own], Record]]:
    world, port = World(tmp_path_factory.mktemp("roles")), free_port()
    record = world.evaluate(home="home", timed_runs=1, warm_up_runs=1, limit=3)
    with (
        pytest.MonkeyPatch.context() as patch,
        Inside(world.place, rpc_port=port) as server,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        patch.setenv("MLMODELSCOPE_MANIFESTS", str(world.place / "manifests"))
        yield channel, everybody(server, Path(world.place)), record
    world.close()


def code_of(channel: Any, method: Method, fields: Mapping[str, Any], metadata: list[tuple[str, str]]) -> str:
    """How a call ends, or begins: of a stream the first answer is enough."""
    message = fill(method.asked, fields).SerializeToString()
    try:
        if method.is_fed:
            next(channel.stream_stream(method.path)(iter([message]), metadata=metadata, timeout=60), None)
        elif method.streams:
            call = channel.unary_stream(method.path)(message, metadata=metadata, timeout=60)
            next(call, None)
            call.cancel()
        else:
            channel.unary_unary(method.path)(message, metadata=metadata, timeout=60)
    except grpc.RpcError as error:
        return str(error.code().name)
    return "OK"


def test_every_method_is_in_the_table() -> None:
    assert set(ASKED) == {method.name for method in methods()}, "a new method needs a row"
    assert all(needs_of(name) in NEEDS for name in ASKED)


def test_everybody_gets_what_their_role_may_have(asked: tuple[Any, dict[str, Own], Record]) -> None:
    channel, people, record = asked
    known = {method.name: method for method in methods()}
    wrong = []
    for name, fields in ASKED.items():
        for role, own in people.items():
            token = [("authorization", f"Bearer {own.token}")] if own.token else []
            metadata = token + ([(key.lower(), value) for key, value in ELSEWHERE.items()] if role == "none" else [])
            code = code_of(channel, known[name], fields(own, record), metadata)
            refused = "UNAUTHENTICATED" if role == "none" else "PERMISSION_DENIED"
            strange = {"UNAUTHENTICATED", "PERMISSION_DENIED", "INTERNAL", "UNKNOWN", "DEADLINE_EXCEEDED"} - {refused}
            if (code == refused) is (role in NEEDS[needs_of(name)]) or code in strange:
                wrong.append(f"{name} as {role}: {code}")
    assert not wrong, "\n".join(wrong)
