"""The documentation tells the truth: it is complete, current, and its examples and commands run."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mlmodelscope import Settings
from mlmodelscope.errors import ArtifactError, MLModelScopeError
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.provision.artifact import ArtifactStore

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def test_the_reference_is_what_the_code_declares() -> None:
    specification = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for name, page in module.PAGES.items():
        assert (module.REFERENCE / name).read_text() == page(), f"run tools/make_docs.py: {name} is out of date"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_manifest_in_the_docs_is_right(page: Path) -> None:
    for text in blocks(page, "yaml"):
        parse_manifest(text, str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_in_the_docs_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_python_example_in_the_readme_is_valid() -> None:
    for text in blocks(ROOT / "README.md", "python"):
        compile(text, "README.md", "exec")


def commands() -> list[str]:
    lines = [line for page in PAGES for block in blocks(page, "console") for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def test_every_command_in_the_docs_runs(tmp_path: Path) -> None:
    """In the order written, in one fresh folder, against the real package index."""
    cache = tmp_path / "cache"
    try:
        pictures = ArtifactStore(Settings(tmp_path / "home", cache)).fetch(
            "pypi:foolbox==3.3.4/foolbox/data/imagenet_*"
        )
    except ArtifactError as error:
        pytest.skip(f"the package index is out of reach: {error.message}")
    (tmp_path / "photo.jpg").write_bytes((pictures.path / "imagenet_00_243.jpg").read_bytes())
    listing = (ROOT / "tests" / "manifest" / "listing1.yml").read_text()
    (tmp_path / "my-model.yml").write_text(listing)
    for page in PAGES:  # an example that begins with its file's name can be used by the commands
        for text in blocks(page, "yaml"):
            if name := re.match(r"# (\S+\.yml)\n", text):
                (tmp_path / name[1]).write_text(text)
    environment = {
        "MLMODELSCOPE_HOME": str(tmp_path / "home"),
        "MLMODELSCOPE_CACHE": str(cache),
        "PATH": "/usr/bin:/bin",
    }
    found = commands()
    assert len(found) > 10
    for command in found:
        words = shlex.split(command)
        assert words[0] == "mlmodelscope"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout, command


def test_the_exception_tree_in_the_errors_module_is_the_real_one() -> None:
    import mlmodelscope.errors as errors

    def names(kind: type[Exception]) -> set[str]:
        return {kind.__name__}.union(
            *(names(child) for child in kind.__subclasses__() if child.__module__ == errors.__name__)
        )

    assert names(MLModelScopeError) == set(re.findall(r"\b(\w+Error)\b", errors.__doc__ or ""))
