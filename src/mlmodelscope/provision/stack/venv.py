"""A stack as a virtual environment, with what it needs of the system beside it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from mlmodelscope.errors import StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.provision.stack.installer import Installer
from mlmodelscope.provision.stack.interpreter import find_interpreter, interpreter_folders
from mlmodelscope.provision.stack.libraries import library_folders, provide_libraries
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress
from mlmodelscope.settings import Settings


class VenvProvisioner:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        if recipe.architecture is not None and find_architecture(recipe.architecture) != find_architecture(None):
            raise StackError(f"the stack is for {recipe.architecture}, this machine is {platform.machine()}")
        interpreter = find_interpreter(recipe.python)
        progress(f"with Python {interpreter.version}, {len(recipe.requirements)} requirements")
        installer = Installer(self._settings.offline)
        installer.make_venv(interpreter.path, folder)
        if recipe.requirements:
            installer.install(recipe, folder / "requirements.txt", _python(folder))
        provide_libraries(recipe, folder, self._settings, progress)

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        # Compiling everything takes longer than all else; what is imported is compiled when it first is, and kept. The
        # stack is ours, so that a user who wants no bytecode beside his own files loses nothing.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **needs.environment}
        libraries = [str(each) for each in library_folders(folder)]
        if libraries:
            given = environment.get("LD_LIBRARY_PATH")
            environment["LD_LIBRARY_PATH"] = os.pathsep.join([*libraries, *([given] if given else [])])
        reads = (folder, *interpreter_folders(_python(folder)))
        return Launch((str(_python(folder)), *arguments), environment, reads=reads)

    def system_packages(self, folder: Path) -> dict[str, str]:
        return {}

    def is_whole(self, folder: Path) -> bool:
        return _python(folder).exists()  # the interpreter that it was made with may be gone


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"
