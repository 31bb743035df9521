"""A stack as a container image: by its digest, run by whatever engine the machine has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.engine import Engine, find_engine
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress
from mlmodelscope.settings import Settings

_FOUND = "image.json"
_LOOK = "command -v python3 || command -v python"


class ContainerProvisioner:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        assert recipe.image is not None
        engine = find_engine()
        progress(f"with {engine.name}: {recipe.image}")
        engine.resolve(recipe.image, offline=self._settings.offline)
        folder.mkdir(parents=True)
        (folder / _FOUND).write_text(json.dumps({"python": _find_python(engine, recipe.image)}) + "\n")

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        assert recipe.image is not None
        python = json.loads((folder / _FOUND).read_text())["python"]
        environment = {"HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1", **needs.environment}  # nosec B108 # inside
        return find_engine().launch(recipe.image, (python, *arguments), needs, environment)

    def system_packages(self, folder: Path) -> dict[str, str]:
        return {}

    def is_whole(self, folder: Path) -> bool:
        return (folder / _FOUND).is_file()


def pin_image(image: str, offline: bool) -> str:
    """An image by its digest, which its name alone may not mean tomorrow."""
    return image if "@sha256:" in image else find_engine().resolve(image, offline=offline)


def _find_python(engine: Engine, image: str) -> str:
    launch = engine.launch(image, ("sh", "-c", _LOOK), Needs(), {})
    done = subprocess.run(
        launch.command, env=dict(launch.environment), capture_output=True, text=True, errors="replace", check=False
    )
    found = done.stdout.split()
    if done.returncode or not found:
        said = f"\n{done.stderr.strip()[-1000:]}" if done.stderr.strip() else ""
        raise StackError(f"no Python was found in {image}: the worker needs Python 3.6 or newer with NumPy{said}")
    return found[-1]
