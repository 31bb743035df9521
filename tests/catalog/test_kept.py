"""Sources of the user's own: added, updated by what changed, removed."""

import subprocess
import zipfile

import pytest

from catalog.samples import FORMS, write
from mlmodelscope.catalog.facts import open_facts, write_facts
from mlmodelscope.catalog.index import facts_folder
from mlmodelscope.catalog.kept import add_source, remove_source, update_source
from mlmodelscope.errors import MLModelScopeError, OfflineError, StoreError, UsageError
from mlmodelscope.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache", offline=True)


def test_an_update_shows_what_came_went_and_changed(settings, tmp_path):
    folder = write(tmp_path / "source", FORMS["keras"])
    first = add_source(settings, "mine", str(folder))
    assert (first.source.models, first.source.claims) == (2, 3)
    page = folder / "applications.md"
    text = (
        page.read_text().replace("74.9%", "75.0%").replace("[ConvNeXtTiny](convnext/#convnexttiny-function)", "VGG16")
    )
    page.write_text(text)
    trial, changes = update_source(settings, "mine", is_trial=True)
    assert (changes.came, changes.went, changes.changed) == (("VGG16",), ("ConvNeXtTiny",), ("ResNet50",))
    assert open_facts(facts_folder(settings) / "mine.facts").sources[0].version == first.source.version
    update_source(settings, "mine")
    assert open_facts(facts_folder(settings) / "mine.facts").sources[0].version == trial.source.version
    assert update_source(settings, "mine")[1].is_empty


def test_an_archive_is_a_source(settings, tmp_path):
    with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
        archive.writestr("inside/applications.md", FORMS["keras"]["applications.md"])
    assert add_source(settings, "mine", str(tmp_path / "source.zip")).source.models == 2


def test_an_archive_that_climbs_is_refused(settings, tmp_path):
    with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
        archive.writestr("../applications.md", FORMS["keras"]["applications.md"])
    with pytest.raises(MLModelScopeError):
        add_source(settings, "mine", str(tmp_path / "source.zip"))


def git(folder, *words):
    own = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def repository(tmp_path):
    folder = write(tmp_path / "repository", {"zoo/applications.md": FORMS["keras"]["applications.md"]})
    try:
        git(folder, "init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (folder / "zoo" / "link.md").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_a_git_repository_is_pinned_to_its_commit(settings, tmp_path):
    folder = repository(tmp_path)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    read = add_source(settings, "mine", f"git+{folder.as_uri()}#zoo")
    assert read.source.version == head.stdout.strip() and read.source.models == 2


def test_hooks_and_filters_of_a_repository_do_not_run(settings, tmp_path):
    folder, mark = repository(tmp_path), tmp_path / "executed"
    (folder / ".gitattributes").write_text("*.md filter=bad\n")
    (folder / ".gitconfig").write_text(f'[filter "bad"]\n smudge = touch {mark}\n')
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "second")
    add_source(settings, "mine", f"git+{folder.as_uri()}#zoo")
    assert not mark.exists()


def test_a_repository_elsewhere_is_not_fetched_offline(settings):
    with pytest.raises(OfflineError, match="cannot be fetched offline"):
        add_source(settings, "mine", "git+https://host.example/repository@main")


@pytest.mark.parametrize("label", ["", "A", "../x", "a/b", "pypi", "timm", "x" * 65, ".x", "a:b"])
def test_a_label_that_cannot_be_one_is_refused(settings, tmp_path, label):
    with pytest.raises(UsageError):
        add_source(settings, label, str(write(tmp_path / "source", FORMS["keras"])))


@pytest.mark.parametrize(
    "origin",
    ["git+ssh://host/x", "git+https://host/x#../..", "git+https://user:word@host/x", "/nowhere/at/all", "http:"],
)
def test_an_origin_that_cannot_be_read_is_an_error_of_ours(settings, origin):
    with pytest.raises(MLModelScopeError):
        add_source(settings, "mine", origin)


def test_a_folder_of_something_else_lists_the_forms(settings, tmp_path):
    (tmp_path / "source").mkdir()
    with pytest.raises(UsageError, match="openmmlab"):
        add_source(settings, "mine", str(tmp_path / "source"))


def test_a_source_is_added_once_and_forgotten_once(settings, tmp_path):
    folder = str(write(tmp_path / "source", FORMS["keras"]))
    add_source(settings, "mine", folder)
    with pytest.raises(UsageError, match="already"):
        add_source(settings, "mine", folder)
    remove_source(settings, "mine")
    with pytest.raises(UsageError, match="no source"):
        remove_source(settings, "mine")


@pytest.mark.parametrize("damage", [b"", b"x" * 1000, None])
def test_damaged_facts_name_their_repair(settings, tmp_path, damage):
    read = add_source(settings, "mine", str(write(tmp_path / "source", FORMS["keras"])))
    path = facts_folder(settings) / "mine.facts"
    whole = write_facts([(read.source, read.entries)])
    assert whole == path.read_bytes()  # the same facts are the same bytes
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with pytest.raises(StoreError, match="cannot be used") as caught:
        list(open_facts(path).entries())
    assert "catalog update mine" in (caught.value.hint or "")
