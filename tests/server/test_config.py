"""Settings of a server: which of them wins, and what is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.server.config import read_config


def test_flags_before_environment_before_file(tmp_path: Path) -> None:
    file = tmp_path / "server.yml"
    file.write_text("port: 1\nslots: 1\nlog_level: debug\n")
    environment = {"MLMODELSCOPE_SERVER_PORT": "2", "MLMODELSCOPE_SERVER_SLOTS": "2"}
    found = read_config(file, {"port": 3, "slots": None}, environment)
    assert (found.port, found.slots, found.log_level, found.host) == (3, 2, "debug", "127.0.0.1")


@pytest.mark.parametrize("address", ["postgresql://ada:hush@host/db", "postgresql://ada:hu:sh@host:1/db"])
def test_a_password_is_never_shown(address: str) -> None:
    shown = read_config(flags={"database": address}, environment={}).shown()["database"]
    assert "hu" not in shown and "ada" in shown and "host" in shown


def test_what_is_no_address_is_not_shown_either() -> None:
    assert read_config(flags={"database": "hush"}, environment={}).shown()["database"] == "not an address"


def test_unknown_settings_are_named() -> None:
    with pytest.raises(UsageError, match="colour"):
        read_config(flags={"colour": "red"}, environment={})
