"""Stacks are built once for their content, and are complete or not there."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack import Needs, StackStore, digest_of
from mlmodelscope.provision.stack import installer as module
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def recipe(tmp_path: Path) -> StackRecipe:
    make_wheel(tmp_path / "wheels", "needed", "2.0")
    make_wheel(tmp_path / "wheels", "toy", "1.0", requires="needed")
    return StackRecipe(python=HERE, requirements=("toy==1.0",), find_links=(str(tmp_path / "wheels"),))


@pytest.fixture
def store(tmp_path: Path) -> StackStore:
    return StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))


def test_a_stack_has_what_its_recipe_names_and_what_that_needs(store: StackStore, recipe: StackRecipe) -> None:
    built = store.build(recipe, "toys")
    assert {"toy": "1.0", "needed": "2.0"}.items() <= built.packages.items()
    code = "import toy, needed, sys; print(toy.__version__, needed.__version__, sys.prefix, sep='\\n')"
    said = subprocess.run(
        [*built.launch(("-c", code), Needs()).command], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert said == ["1.0", "2.0", str(built.folder)]


def test_the_same_recipe_is_the_same_stack_whatever_it_is_called(store: StackStore, recipe: StackRecipe) -> None:
    told: list[str] = []
    first = store.build(recipe, "one", told.append)
    second = store.build(recipe, "another", told.append)
    assert first.folder == second.folder and "building another" not in told
    assert digest_of(recipe) != digest_of(recipe.model_copy(update={"requirements": ("toy==1.1",)}))


def test_what_a_stack_imports_is_compiled_once(
    store: StackStore, recipe: StackRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # a user's wish for his own files
    built = store.build(recipe, "toys")
    launch = built.launch(("-c", "import toy"), Needs())
    subprocess.run(launch.command, env=dict(launch.environment), check=True)
    assert list(built.folder.rglob("toy/__pycache__/*.pyc"))


def test_without_uv_pip_builds_the_same(
    store: StackStore, recipe: StackRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_uv", lambda: None)
    assert store.build(recipe, "toys").packages["toy"] == "1.0"


def test_a_package_that_is_not_there_leaves_nothing_behind(
    store: StackStore, recipe: StackRecipe, tmp_path: Path
) -> None:
    with pytest.raises(OfflineError, match="nothing-of-that-name"):
        store.build(recipe.model_copy(update={"requirements": ("nothing-of-that-name==1.0",)}), "toys")
    assert [path.name for path in (tmp_path / "cache" / "stacks").iterdir()] == ["locks"]


def test_a_python_that_is_not_there_is_named_with_the_command_that_gets_it(store: StackStore) -> None:
    with pytest.raises(StackError, match=r"no Python 3\.99") as caught:
        store.build(StackRecipe(python="3.99", requirements=()), "toys")
    assert caught.value.hint == "uv python install 3.99"


def test_two_who_build_at_once_build_one(store: StackStore, recipe: StackRecipe) -> None:
    told: list[str] = []
    threads = [threading.Thread(target=store.build, args=(recipe, "toys", told.append)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count("building toys") == 1 and store.find(recipe) is not None


def test_what_a_killed_process_began_is_not_taken_for_a_stack(
    recipe: StackRecipe, tmp_path: Path, store: StackStore
) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from mlmodelscope.plan.plan import StackRecipe\n"
        "from mlmodelscope.provision.stack import StackStore\n"
        "from mlmodelscope.provision.stack import store\n"
        "from mlmodelscope.settings import Settings\n"
        "def wait(*stack): print('there', flush=True); sys.stdin.read()\n"
        "store._described = wait\n"
        "root = Path(sys.argv[1])\n"
        "StackStore(Settings(root / 'home', root / 'cache', offline=True)).build("
        "StackRecipe.model_validate_json(sys.argv[2]), 'toys')\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), recipe.model_dump_json()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "there\n"
        child.kill()
    assert store.find(recipe) is None
    assert store.build(recipe, "toys").packages["toy"] == "1.0"
    assert sorted(path.name for path in (tmp_path / "cache" / "stacks").iterdir()) == sorted(
        [digest_of(recipe), "locks"]
    )


def test_a_stack_whose_interpreter_is_gone_is_built_again(store: StackStore, recipe: StackRecipe) -> None:
    built = store.build(recipe, "toys")
    (built.folder / "bin" / "python").unlink()
    (built.folder / "bin" / "python").symlink_to("/nowhere/python")
    assert store.find(recipe) is None
    again = store.build(recipe, "toys")
    assert (again.folder / "bin" / "python").exists()


def test_a_removed_stack_is_gone_and_can_be_built_again(store: StackStore, recipe: StackRecipe) -> None:
    built = store.build(recipe, "toys")
    store.remove(built.digest)
    assert store.find(recipe) is None and not built.folder.exists()
    with pytest.raises(StackError, match="there is no stack"):
        store.remove(built.digest)
    assert store.build(recipe, "toys").folder == built.folder


def test_a_description_that_cannot_be_read_is_no_stack(store: StackStore, recipe: StackRecipe) -> None:
    built = store.build(recipe, "toys")
    (built.folder / "stack.json").write_text("{")
    assert store.find(recipe) is None
    assert json.loads((store.build(recipe, "toys").folder / "stack.json").read_text())["name"] == "toys"


def test_hashes_are_demanded_where_every_line_has_one(store: StackStore, recipe: StackRecipe) -> None:
    wrong = recipe.model_copy(update={"requirements": ("toy==1.0 --hash=sha256:" + "0" * 64,)})
    with pytest.raises((StackError, OfflineError), match="(?i)hash"):
        store.build(wrong, "toys")
