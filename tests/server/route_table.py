"""Every operation of the REST interface: how it is asked for rightly, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlmodelscope.record.record import Record

from .roles import MODEL, Own, spans_of

FAILURE = {"kind": "Died", "message": "it is gone", "hint": None}
TOY = {"model": "toy", "dataset": "pictures", "wait_for_agent": True, "options": {"limit": 1}}


@dataclass(frozen=True)
class Row:
    """How an operation is asked, and what it needs."""

    needs: str
    method: str
    path: Callable[[Own, Record], str]
    more: Callable[[Own, Record], dict[str, Any]] = lambda own, record: {}


def at(needs: str, method: str, path: str, more: Callable[[Own, Record], dict[str, Any]] | None = None) -> Row:
    """`{…}` in a path are parts of what somebody owns, `{record}` is the record that there is."""

    def spelled(own: Own, record: Record) -> str:
        return path.format(record=record.id, **vars(own))

    return Row(needs, method, spelled, more or (lambda own, record: {}))


def sent(body: Any) -> Callable[[Own, Record], dict[str, Any]]:
    return lambda own, record: {"json": body(own) if callable(body) else body}


def mine(own: Own) -> dict[str, Any]:
    return {"incarnation": "known"}


PACKED = {"content": b"no zip", "headers": {"X-Attempt": "1"}}
ROWS: dict[str, Row] = {
    "health": at("nothing", "GET", "/api/v1/health"),
    "ready": at("nothing", "GET", "/api/v1/ready"),
    "get_metrics": at("read", "GET", "/metrics"),
    "who_am_i": at("to be known", "GET", "/api/v1/whoami"),
    "list_manifests": at("read", "GET", "/api/v1/manifests/model"),
    "get_manifest": at("read", "GET", "/api/v1/manifests/model/{manifest}/1.0.0"),
    "put_manifest": at(
        "run",
        "POST",
        "/api/v1/manifests",
        sent(lambda own: {"text": MODEL.format(name=f"new-{own.manifest}-{own.agent}")}),
    ),
    "resolve_request": at("read", "POST", "/api/v1/requests/resolve", sent(TOY)),
    "ask_for_work": at("run", "POST", "/api/v1/requests", sent(TOY)),
    "list_evaluations": at("read", "GET", "/api/v1/evaluations"),
    "get_evaluation": at("read", "GET", "/api/v1/evaluations/{waiting}"),
    "cancel_evaluation": at("run", "POST", "/api/v1/evaluations/{waiting}/cancel"),
    "follow_evaluation": at("read", "GET", "/api/v1/evaluations/{ended}/events"),
    "list_records": at("read", "GET", "/api/v1/records"),
    "get_record": at("read", "GET", "/api/v1/records/{record}"),
    "get_report": at("read", "GET", "/api/v1/records/{record}/report?form=md"),
    "get_log": at("read", "GET", "/api/v1/records/{record}/log"),
    "get_samples": at("read", "GET", "/api/v1/records/{record}/samples"),
    "get_classes": at("read", "GET", "/api/v1/records/{record}/classes"),
    "get_record_claims": at("read", "GET", "/api/v1/records/{record}/claims"),
    "get_record_request": at("read", "GET", "/api/v1/records/{record}/request"),
    "get_record_manifests": at("read", "GET", "/api/v1/records/{record}/manifests"),
    "get_sample_shapes": at("read", "GET", "/api/v1/records/{record}/shapes?sample=class0/0000.png"),
    "get_sample_prompt": at("read", "GET", "/api/v1/records/{record}/prompt?sample=class0/0000.png"),
    "get_sample_picture": at("read", "GET", "/api/v1/records/{record}/picture?sample=class0/0000.png"),
    "get_sample_input": at("read", "GET", "/api/v1/records/{record}/input?sample=class0/0000.png"),
    "get_sample_sound": at("read", "GET", "/api/v1/records/{record}/sound?sample=class0/0000.png"),
    "get_sample_heard": at("read", "GET", "/api/v1/records/{record}/heard?sample=class0/0000.png"),
    "get_record_residuals": at("read", "GET", "/api/v1/records/{record}/residuals"),
    "get_bundle": at("read", "GET", "/api/v1/records/{record}/bundle"),
    "get_origin": at("read", "GET", "/api/v1/records/{record}/origin"),
    "pin_record": at("run", "POST", "/api/v1/records/{record}/pin", sent({"pinned": True})),
    "list_record_choices": at("read", "GET", "/api/v1/record-choices"),
    "get_remarks": at("read", "GET", "/api/v1/records/{record}/remarks"),
    "add_tag": at("run", "POST", "/api/v1/records/{record}/tags", sent(lambda own: {"tag": own.agent})),
    "remove_tag": at("run", "DELETE", "/api/v1/records/{record}/tags/{agent}"),
    "add_note": at("run", "POST", "/api/v1/records/{record}/notes", sent({"text": "as published"})),
    "remove_note": at("run", "DELETE", "/api/v1/records/{record}/notes/unknown"),
    "list_leaderboards": at("read", "GET", "/api/v1/leaderboards"),
    "get_leaderboard": at("read", "GET", "/api/v1/leaderboards/pictures"),
    "list_keys": at("read", "GET", "/api/v1/keys"),
    "push_bundle": at("run", "POST", "/api/v1/bundles", lambda own, record: {"content": b"no zip"}),
    "get_dataset_samples": at("read", "GET", "/api/v1/datasets/pictures/samples"),
    "get_dataset_picture": at("read", "GET", "/api/v1/datasets/pictures/picture?sample=class0/0000.png"),
    "get_dataset_classes": at("read", "GET", "/api/v1/datasets/pictures/classes"),
    "get_dataset_input": at("read", "GET", "/api/v1/datasets/pictures/input?sample=class0/0000.png"),
    "get_dataset_sound": at("read", "GET", "/api/v1/datasets/pictures/sound?sample=class0/0000.png"),
    "get_model_facts": at("read", "GET", "/api/v1/models/toy/facts"),
    "get_model_network": at("read", "GET", "/api/v1/models/toy/network"),
    "list_results": at("read", "GET", "/api/v1/results"),
    "get_sample_content": at("run", "GET", "/api/v1/datasets/pictures/content?sample=class0/0000.png"),
    "list_agents": at("read", "GET", "/api/v1/agents"),
    "get_agent": at("read", "GET", "/api/v1/agents/{agent}"),
    "drain_agent": at("admin", "POST", "/api/v1/agents/{agent}/drain", sent({"draining": False})),
    "list_tokens": at("read", "GET", "/api/v1/tokens"),
    "make_token": at(
        "run with a token",
        "POST",
        "/api/v1/tokens",
        sent(lambda own: {"name": "n", "owner": own.owner, "scopes": ["run"]}),
    ),
    "revoke_token": at("run", "DELETE", "/api/v1/tokens/{revoked}"),
    "read_audit": at("admin", "GET", "/api/v1/audit"),
    "join_agent": at(
        "agent",
        "POST",
        "/api/v1/agents",
        sent(lambda own: {"description": own.description.model_dump(mode="json"), **mine(own)}),
    ),
    "beat_agent": at("agent", "POST", "/api/v1/agents/{agent}/beat", sent(lambda own: {**mine(own), "held": {}})),
    "take_evaluations": at("agent", "POST", "/api/v1/agents/{agent}/take", sent(mine)),
    "tell_events": at("agent", "POST", "/api/v1/evaluations/{evaluation}/events", sent({"attempt": 1, "events": []})),
    "finish_evaluation": at("agent", "PUT", "/api/v1/evaluations/{evaluation}/record", lambda own, record: PACKED),
    "finish_part": at("agent", "PUT", "/api/v1/evaluations/{evaluation}/part", lambda own, record: PACKED),
    "return_evaluation": at("agent", "POST", "/api/v1/evaluations/{evaluation}/return", sent({"attempt": 1})),
    "fail_evaluation": at(
        "agent",
        "POST",
        "/api/v1/evaluations/{evaluation}/failure",
        sent({"attempt": 1, "failure": FAILURE, "again": False}),
    ),
    "confirm_cancelled": at("agent", "POST", "/api/v1/evaluations/{evaluation}/cancelled", sent({"attempt": 1})),
    "predict": at(
        "run",
        "POST",
        "/api/v1/predictions",
        sent({"model": "toy", "input": {"text": "x"}, "where": {"agent": "nobody"}}),
    ),
    "get_limits": at("read", "GET", "/api/v1/predictions/limits"),
    "take_prediction": at("agent", "POST", "/api/v1/agents/{agent}/predictions/take", sent(mine)),
    "tell_prediction": at(
        "agent",
        "POST",
        "/api/v1/predictions/asked/events",
        sent(lambda own: {"agent": own.agent, "event": {"kind": "opening"}}),
    ),
    "answer_prediction": at(
        "agent",
        "POST",
        "/api/v1/predictions/asked/answer",
        sent(lambda own: {"agent": own.agent, "ending": {"failure": FAILURE}}),
    ),
    "return_prediction": at(
        "agent", "POST", "/api/v1/predictions/asked/return", sent(lambda own: {"agent": own.agent})
    ),
    "announce_artifact": at(
        "run", "POST", "/api/v1/artifacts", sent(lambda own: {"sha256": own.digest, "size": 1, "name": "x"})
    ),
    "list_artifacts": at("read", "GET", "/api/v1/artifacts"),
    "send_artifact": at(
        "run",
        "PATCH",
        "/api/v1/artifacts/{digest}",
        lambda own, record: {"content": b"x", "headers": {"Upload-Offset": "0"}},
    ),
    "look_up_artifact": at("read or agent", "HEAD", "/api/v1/artifacts/{digest}"),
    "get_artifact": at("read or agent", "GET", "/api/v1/artifacts/{digest}"),
    "take_spans": at("run", "POST", "/api/v1/otlp/v1/traces", sent(lambda own: spans_of(own.trace))),
    "list_traces": at("read", "GET", "/api/v1/traces"),
    "get_trace": at("read", "GET", "/api/v1/traces/{trace}"),
    "list_spans": at("read", "GET", "/api/v1/traces/{trace}/spans"),
    "export_trace": at("read", "GET", "/api/v1/traces/{trace}/export"),
    "get_timeline": at("read", "GET", "/api/v1/traces/{trace}/timeline"),
    "get_span": at("read", "GET", "/api/v1/traces/{trace}/spans/051581bf3cb55c13"),
    "get_flames": at("read", "GET", "/api/v1/traces/{trace}/flames"),
    "list_names": at("read", "GET", "/api/v1/traces/{trace}/names?level=application"),
    "list_analyses": at("read", "GET", "/api/v1/traces/{trace}/analyses"),
    "compare_records": at("read", "GET", "/api/v1/comparisons?record={record}&record={record}"),
    "get_overview": at("read", "GET", "/api/v1/overview"),
    "list_claims": at("read", "GET", "/api/v1/claims"),
    "list_published_claims": at("read", "GET", "/api/v1/published-claims?source=keras&limit=1"),
    "list_checks": at("read", "GET", "/api/v1/published-claims/0123/checks"),
    "ask_for_replication": at(
        "run",
        "POST",
        "/api/v1/replications",
        sent({**TOY, "arguments": {"claim": "top1=50", "explain": False}}),
    ),
    "list_replications": at("read", "GET", "/api/v1/replications"),
    "get_replication": at("read", "GET", "/api/v1/replications/{waiting}"),
    "get_flipped_samples": at("read", "GET", "/api/v1/replications/{waiting}/samples"),
    "get_evidence_picture": at("read", "GET", "/api/v1/replications/{waiting}/pictures/a.png"),
    "get_replication_report": at("read", "GET", "/api/v1/replications/{waiting}/report"),
    "ask_for_sensitivity": at("run", "POST", "/api/v1/sensitivities", sent(TOY)),
    "list_sensitivities": at("read", "GET", "/api/v1/sensitivities"),
    "get_sensitivity": at("read", "GET", "/api/v1/sensitivities/{waiting}"),
    "check_manifest": at("read", "POST", "/api/v1/manifests/check", sent({"text": MODEL.format(name="x")})),
    "convert_manifest": at("read", "POST", "/api/v1/manifests/convert", sent({"text": MODEL.format(name="x")})),
    "begin_manifest": at(
        "run", "POST", "/api/v1/manifests/init?file=net.onnx", lambda own, record: {"content": b"no model"}
    ),
    "get_manifest_schema": at("read", "GET", "/api/v1/manifests/model/schema"),
    "list_versions": at("read", "GET", "/api/v1/manifests/model/{manifest}"),
    "list_models": at("read", "GET", "/api/v1/models"),
    "list_described_models": at("read", "GET", "/api/v1/described-models"),
    "list_datasets": at("read", "GET", "/api/v1/datasets"),
    "list_frameworks": at("read", "GET", "/api/v1/frameworks"),
    "list_stacks": at("read", "GET", "/api/v1/stacks"),
    "list_machines": at("read", "GET", "/api/v1/machines"),
    "list_metrics": at("read", "GET", "/api/v1/metrics"),
    # What is gone afterwards.
    "delete_evaluation": at("run", "DELETE", "/api/v1/evaluations/{ended}"),
    "leave_agent": at("agent", "DELETE", "/api/v1/agents/{agent}?incarnation=known"),
    "delete_artifact": at("run", "DELETE", "/api/v1/artifacts/{digest}"),
    "delete_trace": at("run", "DELETE", "/api/v1/traces/{trace}"),
    "delete_manifest": at("run", "DELETE", "/api/v1/manifests/model/{manifest}/1.0.0"),
    "delete_record": at("admin", "DELETE", "/api/v1/records/{record}"),
}
