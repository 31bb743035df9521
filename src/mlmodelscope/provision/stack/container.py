"""A stack as a container image: by its digest, run by whatever engine the machine has."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.engine import Engine, engine_error, find_engine, is_about_limits
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress
from mlmodelscope.settings import Settings

_FOUND = "image.json"
_LOOK = "command -v python3 || command -v python"


@dataclass(frozen=True)
class Found:
    """What was found out about an image when its stack was made."""

    python: str
    is_limited: bool = False


class ContainerProvisioner:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        assert recipe.image is not None
        engine = find_engine()
        progress(f"with {engine.name}: {recipe.image}")
        engine.resolve(recipe.image, offline=self._settings.offline)
        folder.mkdir(parents=True)
        found = find_python(engine, recipe.image)
        if found.is_limited:
            progress(f"{engine.name} may not raise limits here: containers get modest ones")
        (folder / _FOUND).write_text(json.dumps(asdict(found)) + "\n")

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        assert recipe.image is not None
        found = Found(**json.loads((folder / _FOUND).read_text()))
        environment = {"HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1", **needs.environment}  # nosec B108 # inside
        return find_engine().launch(
            recipe.image, (found.python, *arguments), needs, environment, is_limited=found.is_limited
        )

    def system_packages(self, folder: Path) -> dict[str, str]:
        return {}

    def is_whole(self, folder: Path) -> bool:
        return (folder / _FOUND).is_file()


def pin_image(image: str, offline: bool) -> str:
    """An image by its digest, which its name alone may not mean tomorrow."""
    return image if "@sha256:" in image else find_engine().resolve(image, offline=offline)


def find_python(engine: Engine, image: str) -> Found:
    """Where an image has its Python, and whether it starts with modest limits only."""
    done = _look(engine, image, is_limited=False)
    is_limited = done.returncode != 0 and is_about_limits(done.stderr)
    if is_limited:
        done = _look(engine, image, is_limited=True)
    found = done.stdout.split()
    if done.returncode == 0 and found:
        return Found(found[-1], is_limited)
    reason = engine_error(done.returncode, done.stderr)
    if reason is not None:
        raise StackError(
            f"{engine.name} cannot start a program in {image}: {reason}",
            hint="the image needs a shell and Python 3.6 or newer with NumPy; MLMODELSCOPE_CONTAINER_OPTIONS passes "
            f"options to `{engine.name} run`",
        )
    said = f"\n{done.stderr.strip()[-1000:]}" if done.stderr.strip() else ""
    raise StackError(f"no Python was found in {image}: the worker needs Python 3.6 or newer with NumPy{said}")


def _look(engine: Engine, image: str, *, is_limited: bool) -> subprocess.CompletedProcess[str]:
    launch = engine.launch(image, ("sh", "-c", _LOOK), Needs(), {}, is_limited=is_limited)
    return subprocess.run(
        launch.command, env=dict(launch.environment), capture_output=True, text=True, errors="replace", check=False
    )
