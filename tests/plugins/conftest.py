"""Packages that add something: a whole one, built and installed as strangers do it, and odd ones."""

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from mlmodelscope.cli.plugins import registries
from mlmodelscope.plugins.installed import all_plugins

from .packages import install

TOY = Path(__file__).parent / "toy"


@pytest.fixture(scope="session")
def toy(once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The folder that the toy package's own wheel is installed in; nothing of ours was changed for it."""
    return once("toy-package", build_and_install) / "site"


def build_and_install(place: Path) -> None:
    shutil.copytree(TOY, place / "source")  # building leaves files beside the source
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    options = ["--no-deps", "--no-index"]
    build = [*pip, "wheel", *options, "--no-build-isolation", "--wheel-dir", str(place), str(place / "source")]
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PYTHONWARNINGS": "ignore"}
    subprocess.run(build, check=True, env=environment)
    (wheel,) = place.glob("*.whl")
    subprocess.run(
        [*pip, "install", *options, "--target", str(place / "site"), str(wheel)], check=True, env=environment
    )


@pytest.fixture
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Puts a folder of packages onto this process's path, and takes everything back afterwards."""
    things = {each: dict(each.things) for each in registries()}
    folders: list[str] = []

    def put(folder: Path) -> None:
        folders.append(str(folder))
        monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        all_plugins.cache_clear()

    try:
        yield put
    finally:
        for each, known in things.items():
            each._go_back_to(known)
            each._outcomes.clear()
        for name, module in list(sys.modules.items()):
            places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
            if any(str(place).startswith(tuple(folders)) for place in places if folders):
                del sys.modules[name]
        all_plugins.cache_clear()


@pytest.fixture
def odd(tmp_path: Path, on_the_path: Callable[[Path], None]) -> Callable[..., Path]:
    """Installs an odd package and puts it onto the path."""

    def make(entries: Mapping[str, Mapping[str, str]], files: Mapping[str, str], **more: str) -> Path:
        folder = install(tmp_path / f"site-{more.get('name', 'odd')}", entries, files, **more)  # type: ignore[arg-type]
        on_the_path(folder)
        return folder

    return make
