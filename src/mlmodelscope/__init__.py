"""MLModelScope: check a shared model's claims.

from mlmodelscope import evaluate
record = evaluate("efficientnet-lite0", "imagenet-70")
print(record.metrics["top1"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlmodelscope_worker import __version__

if TYPE_CHECKING:
    from mlmodelscope.client.async_client import AsyncClient
    from mlmodelscope.client.connect import connect
    from mlmodelscope.evaluation import Options, evaluate
    from mlmodelscope.manifest.load import load_manifest, parse_manifest
    from mlmodelscope.plan.make import make_plan
    from mlmodelscope.prediction import predict
    from mlmodelscope.record.record import Record
    from mlmodelscope.record.store import Store, samples
    from mlmodelscope.replicate.replication import check_claims
    from mlmodelscope.settings import Settings

_HOMES = {
    "check_claims": "mlmodelscope.replicate.replication",
    "AsyncClient": "mlmodelscope.client.async_client",
    "Options": "mlmodelscope.evaluation",
    "connect": "mlmodelscope.client.connect",
    "evaluate": "mlmodelscope.evaluation",
    "predict": "mlmodelscope.prediction",
    "samples": "mlmodelscope.record.store",
    "load_manifest": "mlmodelscope.manifest.load",
    "parse_manifest": "mlmodelscope.manifest.load",
    "make_plan": "mlmodelscope.plan.make",
    "Record": "mlmodelscope.record.record",
    "Store": "mlmodelscope.record.store",
    "Settings": "mlmodelscope.settings",
}

__all__ = [
    "AsyncClient",
    "Options",
    "Record",
    "Settings",
    "Store",
    "__version__",
    "check_claims",
    "connect",
    "evaluate",
    "load_manifest",
    "make_plan",
    "parse_manifest",
    "predict",
    "samples",
]


def __getattr__(name: str) -> Any:
    # Imported when first used: `mlmodelscope --version` must not pay for a database.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
