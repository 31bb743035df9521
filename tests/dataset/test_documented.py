"""The examples of docs/dataset-formats.md: their files are written, and their manifests open them."""

import re
from pathlib import Path

import pytest

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.manifest.catalog import find_dataset
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore

PAGE = (Path(__file__).parents[2] / "docs" / "dataset-formats.md").read_text()
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
BINARY = {"a sound file": b"RIFF", "four bytes": b"\xff\x00\x01\x7f"}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n", 1)[0])
def test_every_example_opens(section: str, tmp_path: Path, store: ArtifactStore) -> None:
    files = {name: text.encode() for name, text in re.findall(r"`([^`\n]+)`:\n\n```text\n(.*?)```", section, re.DOTALL)}
    files |= {name: BINARY[word] for name, word in re.findall(r"^`([^`\n]+)`: (.+)$", section, re.MULTILINE)}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    manifests = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert manifests
    for text in manifests:
        (tmp_path / "dataset.yml").write_text(text)
        found = find_dataset(tmp_path / "dataset.yml")
        opened = open_dataset(plan_dataset(found, Options(), pin(found, store)), store)
        assert found.size == len(opened.samples)
        assert all(sample.target is not None for sample in opened.samples)
