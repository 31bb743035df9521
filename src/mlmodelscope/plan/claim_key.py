"""What makes a claim the same one, wherever it is read: in a manifest, in a source's facts, in what was checked."""

from __future__ import annotations

import hashlib
import json

from mlmodelscope.manifest import schema
from mlmodelscope.manifest.splits import claimed_on

_HEX_DIGITS = 32


def claim_key(model: str, metric: str, value: str, dataset: str | None, conditions: str | None) -> str:
    """`model` is `name@version` of a manifest or `SOURCE:NAME`; all else is as the manifest has it.

    The dataset has its split. The metric is the author's word: which of our measures that is may depend on the dataset.
    """
    told = json.dumps([model, metric, value, dataset or "", conditions or ""], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_HEX_DIGITS]


def key_of(model: str, claim: schema.Claim) -> str:
    return claim_key(model, claim.metric, claim.value, claimed_on(claim), claim.conditions)
