"""What the documentation's commands find: the files of its first evaluation, in a home of their own."""

from pathlib import Path

import pytest

from cli.command import run_command
from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings


def environment(home: Path, cache: Path) -> dict[str, str]:
    return {"MLMODELSCOPE_HOME": str(home), "MLMODELSCOPE_CACHE": str(cache), "PATH": "/usr/bin:/bin"}


def fetch_photo(home: Path, cache: Path) -> bytes:
    try:
        pictures = ArtifactStore(Settings(home, cache)).fetch("pypi:foolbox==3.3.4/foolbox/data/imagenet_*")
    except ArtifactError as error:
        pytest.skip(f"the package index is out of reach: {error.message}")
    return (pictures.path / "imagenet_00_243.jpg").read_bytes()


def evaluate_first_model(place: Path, cache: Path) -> None:
    """The README's first evaluation, and a photo, with files from the real package index."""
    home = place / "home"
    (place / "photo.jpg").write_bytes(fetch_photo(home, cache))
    done = run_command("evaluate", "efficientnet-lite0", "imagenet-70", cwd=place, environment=environment(home, cache))
    assert done.returncode == 0, done.stdout + done.stderr
