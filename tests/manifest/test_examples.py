"""The manifests under docs/examples can be read, and say what the tests of published numbers say."""

from pathlib import Path

import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_can_be_read(path: Path) -> None:
    manifest = load_manifest(path)
    assert isinstance(manifest, ModelManifest) and manifest.name


def test_srresnet_is_the_one_that_was_measured() -> None:
    shown, measured = (
        load_manifest(ROOT / place / "srresnet-x4.yml") for place in ("docs/examples", "tests/acceptance/manifests")
    )
    assert isinstance(shown, ModelManifest) and isinstance(measured, ModelManifest)
    for name in ("inputs", "outputs", "answer", "measure", "framework"):
        assert getattr(shown, name) == getattr(measured, name), name
    assert shown.source is not None and measured.source is not None
    assert shown.source.graph_checksum == measured.source.graph_checksum
