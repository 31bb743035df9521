"""What a manifest would have loaded or run."""

import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.trust import code_of


@pytest.mark.parametrize(
    ("stack", "carries"),
    [
        ({"requirements": ["numpy==2.0.0"]}, False),
        ({"root": "debian:bookworm", "system_packages": ["python3"]}, False),
        ({"requirements": ["numpy==2.0.0"], "index_url": "https://elsewhere.example/simple"}, True),
        ({"requirements": ["numpy==2.0.0"], "find_links": ["https://elsewhere.example"]}, True),
        ({"requirements": ["numpy @ https://elsewhere.example/numpy.whl"]}, True),
        ({"requirements": ["--index-url=https://elsewhere.example", "numpy"]}, True),
        ({"root": "https://elsewhere.example/root.tar"}, True),
    ],
)
def test_packages_from_elsewhere_are_other_peoples_code(stack: dict[str, object], carries: bool) -> None:
    manifest = load_manifest({"name": "mine", "version": "1.0.0", "stack": stack})
    assert bool(code_of(manifest)) is carries
