"""The documentation tells the truth: it is complete, current, and its examples and commands run."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import run_command
from docs_world import environment, fetch_photo
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.load import parse_manifest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SAVED = re.compile(r"Save (?:it|them) as `([\w.]+)`:\n\n```text\n(.*?)```", re.DOTALL)
"""A file of a tutorial that is not a manifest."""


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


def test_nothing_is_installed_from_where_it_is_not() -> None:
    """Neither a package index nor a public repository has us: a clone or a wheel is what there is."""
    sources = [path for path in (ROOT / "src").rglob("*.py")]
    for path in (*PAGES, ROOT / "pyproject.toml", *sources):
        lines = path.read_text().splitlines()
        wrong = [line for line in lines if re.search(r"pip install [^.,]*mlmodelscope\b(?!-)", line)]
        assert not wrong and "github.com/mlmodelscope/mlmodelscope" not in path.read_text(), (path, wrong)


def test_every_guard_on_the_security_page_exists() -> None:
    named = re.findall(r"`(tests/[^`]+)`", (ROOT / "docs" / "security.md").read_text())
    assert named and [name for name in named if not (ROOT / name).is_file()] == []


def test_every_python_example_in_the_readme_is_valid() -> None:
    for text in blocks(ROOT / "README.md", "python"):
        compile(text, "README.md", "exec")


def commands(page: Path) -> list[list[str]]:
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    found = [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]
    assert all(words[0] == "mlmodelscope" for words in found)
    return [words[1:] for words in found]


def write_files(place: Path, photo: bytes) -> None:
    """What the commands name: a photo, manifests, examples that begin with a file's name, and what tutorials save."""
    (place / "photo.jpg").write_bytes(photo)
    for number, name in enumerate(("beach", "mountain"), 1):
        (place / "photos" / name).mkdir(parents=True)
        (place / "photos" / name / f"photo_{number:02d}.jpg").write_bytes(photo + bytes((number,)))
    (place / "my-model.yml").write_text((ROOT / "tests" / "manifest" / "listing1.yml").read_text())
    for page in PAGES:
        for text in blocks(page, "yaml"):
            if name := re.match(r"# (\S+\.yml)\n", text):
                (place / name[1]).write_text(text)
        if page.parent.name == "tutorials":
            for name, text in SAVED.findall(page.read_text()):
                (place / name).write_text(text)


SPOKEN = [page for page in PAGES if commands(page)]
BRIEFLY = {"--budget": "0.5", "--runs": "2"}
"""Numbers of the docs that only say for how long."""
TRAINS = "functions.md"


def test_the_docs_have_commands() -> None:
    assert len(SPOKEN) > 10


@pytest.mark.slow(reason="real models are fetched, evaluated, trained, measured and profiled")
@pytest.mark.usefixtures("small_peak", "few_calls")
@pytest.mark.parametrize("page", SPOKEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_runs(
    page: Path, evaluated: Path, fetched: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In the order written, where the README's first evaluation was made; a page that trains finds it done."""
    made = request.getfixturevalue("trained_mnist") if page.name == TRAINS else evaluated / "home"
    shutil.copytree(made, tmp_path / "home")
    write_files(tmp_path, (evaluated / "photo.jpg").read_bytes())
    variables = environment(tmp_path / "home", fetched)
    for words in commands(page):
        brief = [BRIEFLY.get(before, word) for before, word in zip(["", *words], words, strict=False)]
        done = run_command(*brief, cwd=tmp_path, environment=variables)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        assert done.stdout, words


@pytest.mark.slow(reason="a real model is evaluated, and a claim about it checked")
def test_the_program_of_the_page_on_python_runs(evaluated: Path, fetched: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated / "home", tmp_path / "home")
    program = "\n".join(blocks(ROOT / "docs" / "python.md", "python"))
    variables = environment(tmp_path / "home", fetched)
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "of 70 are wrong" in done.stdout and "\nreproduced\n" in done.stdout


@pytest.mark.nightly
@pytest.mark.slow(reason="all the commands of the docs, for as long as they say")
def test_every_command_of_the_docs_runs_in_a_process(tmp_path: Path) -> None:
    """In the order written, to the letter, in one fresh folder."""
    home, cache = tmp_path / "home", tmp_path / "cache"
    write_files(tmp_path, fetch_photo(home, cache))
    for words in (words for page in SPOKEN for words in commands(page)):
        done = subprocess.run(
            [sys.executable, "-m", "mlmodelscope", *words],
            cwd=tmp_path,
            env=environment(home, cache),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        assert done.stdout, words


def test_the_exception_tree_in_the_errors_module_is_the_real_one() -> None:
    import mlmodelscope.errors as errors

    def names(kind: type[Exception]) -> set[str]:
        return {kind.__name__}.union(
            *(names(child) for child in kind.__subclasses__() if child.__module__ == errors.__name__)
        )

    assert names(MLModelScopeError) == set(re.findall(r"\b(\w+Error)\b", errors.__doc__ or ""))


@pytest.mark.slow(reason="all of the documentation is built")
def test_the_documentation_builds_with_every_link_and_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs-material is not installed")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1", "LANG": "C.UTF-8"}
    done = subprocess.run(build, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > len(PAGES)
    for page in built:
        fetched = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"?(https?:[^\s\">]+)", page.read_text()
        )
        assert fetched == [], page
