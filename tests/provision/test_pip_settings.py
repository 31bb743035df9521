"""Where pip looks is where we look."""

import sys
from pathlib import Path

import pytest

from mlmodelscope.provision import pip_settings
from mlmodelscope.provision.pip_settings import read_index_settings


@pytest.fixture
def prefix(bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment; the machine's own configuration is out of sight."""
    monkeypatch.delenv("PIP_CONFIG_FILE")
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "etc"))
    monkeypatch.setattr(pip_settings, "_MACHINES_OWN", tmp_path / "machine" / "pip.conf")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return tmp_path / "venv"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_settings_the_public_index_is_asked(bare_machine: Path) -> None:
    found = read_index_settings()
    assert (found.indexes, found.find_links, found.certificates) == (("https://pypi.org/simple",), (), None)


def test_a_users_file_is_read(bare_machine: Path, prefix: Path) -> None:
    write(
        bare_machine / ".config/pip/pip.conf",
        "[global]\nindex-url = http://one/\nextra-index-url =\n  http://two/\n  http://three/\nfind_links = /w /v\n",
    )
    found = read_index_settings()
    assert found.indexes == ("http://one/", "http://two/", "http://three/") and found.find_links == ("/w", "/v")


def test_later_files_and_the_environment_win(
    bare_machine: Path, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (tmp_path / "etc/pip", bare_machine / ".pip", bare_machine / ".config/pip", prefix):
        write(place / "pip.conf", f"[global]\nindex-url = http://{place.name.strip('.')}/\n")
        assert read_index_settings().indexes == (f"http://{place.name.strip('.')}/",)
    monkeypatch.setenv("PIP_INDEX_URL", "http://environment/")
    assert read_index_settings().indexes == ("http://environment/",)


def test_a_commands_section_wins_over_every_global_one(bare_machine: Path, prefix: Path) -> None:
    write(bare_machine / ".pip/pip.conf", "[install]\nindex-url = http://install/\n")
    write(bare_machine / ".config/pip/pip.conf", "[global]\nindex-url = http://global/\n")
    assert read_index_settings().indexes == ("http://install/",)


def test_a_named_file_takes_the_place_of_the_users(
    bare_machine: Path, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(bare_machine / ".pip/pip.conf", "[global]\nindex-url = http://user/\nfind-links = /user\n")
    write(tmp_path / "named.conf", "[global]\ncert = /named.pem\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "named.conf"))
    found = read_index_settings()
    assert found.find_links == () and found.certificates == "/named.pem"


def test_a_damaged_file_does_not_hide_the_others(bare_machine: Path, prefix: Path) -> None:
    write(bare_machine / ".pip/pip.conf", "[global]\nindex-url = http://good/\n")
    write(bare_machine / ".config/pip/pip.conf", "index-url = http://no-section/\n")
    (prefix).mkdir()
    (prefix / "pip.conf").write_bytes(b"[global]\nindex-url = \xff\xfe\n")
    assert read_index_settings().indexes == ("http://good/",)


@pytest.mark.parametrize(
    ("word", "is_used"), [("1", False), ("true", False), ("yes", False), ("0", True), ("no", True)]
)
def test_an_index_may_be_forbidden(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, word: str, is_used: bool
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", word)
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    assert bool(read_index_settings().indexes) is is_used
    assert read_index_settings().find_links == ("/wheels",)


def test_uvs_index_is_used_where_pip_has_none(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://uv/")
    assert read_index_settings().indexes == ("http://uv/",)
    monkeypatch.setenv("PIP_INDEX_URL", "http://pip/")
    assert read_index_settings().indexes == ("http://pip/",)
