"""A replication that several tests look at and none changes: it is made once in each process."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from mlmodelscope import Settings
from mlmodelscope.replicate.evidence import Evidence
from mlmodelscope.replicate.replication import Replication
from replicate.scenes import evidence_of, replicated


@dataclass(frozen=True)
class Scene:
    """A claim that does not hold, why, and where that was found out."""

    done: Replication
    evidence: Evidence
    settings: Settings


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory, empty_home: Path) -> Scene:
    place = tmp_path_factory.mktemp("scene")
    shutil.copytree(empty_home, place / "home")
    settings = Settings(home=place / "home", cache=place / "cache")
    done = replicated(place, settings)
    return Scene(done, evidence_of(done, settings), settings)


@pytest.fixture
def done(scene: Scene) -> Replication:
    return scene.done
