"""Splits of a dataset: `name@version:split` names one of them."""

from __future__ import annotations

import re

from mlmodelscope.manifest.schema import Claim

_REFERENCE = re.compile(r"([^\s:]\S*):([A-Za-z0-9][A-Za-z0-9._+-]{0,99})")
_NO_NAMES = ("sha256", "http", "https", "file", "s3")
_ONE_NAME = {"val": "validation", "valid": "validation", "dev": "validation", "testing": "test", "training": "train"}


def parted(reference: str) -> tuple[str, str | None]:
    """(the dataset, its split where one is named): `stsb@1.0.0:test`."""
    match = _REFERENCE.fullmatch(reference)
    if match is None or match[1] in _NO_NAMES:
        return reference, None
    return match[1], match[2]


def claimed_on(claim: Claim) -> str | None:
    """What a claim is about: its dataset, with the split where it names one."""
    if claim.dataset is None or claim.split is None:
        return claim.dataset
    return f"{parted(claim.dataset)[0]}:{claim.split}"


def is_same_split(claimed: str | None, measured: str | None) -> bool:
    """Whether a claim that names a split, or none, can be about the one that was measured."""
    return claimed is None or (measured is not None and _plain(claimed) == _plain(measured))


def _plain(split: str) -> str:
    return _ONE_NAME.get(split.lower(), split.lower())
