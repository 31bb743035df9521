"""`--server` and `--token` may stand before or behind the verb, and are never taken for it."""

from __future__ import annotations

import os

import pytest

from mlmodelscope.cli.server_choice import take_server
from mlmodelscope.errors import UsageError

URL, TOKEN = "http://127.0.0.1:9", "a-secret"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set first, so that what the tests leave behind goes away.
    for name in ("MLMODELSCOPE_SERVER", "MLMODELSCOPE_TOKEN"):
        monkeypatch.setenv(name, "")


@pytest.mark.parametrize(
    "words",
    [
        ["--server", URL, "--token", TOKEN, "models", "--json"],
        ["models", "--json", f"--server={URL}", f"--token={TOKEN}"],
        ["--token", TOKEN, "models", "--server", URL, "--json"],
    ],
)
def test_they_may_stand_anywhere(words: list[str]) -> None:
    assert take_server(["mlmodelscope", *words]) == ["mlmodelscope", "models", "--json"]
    assert os.environ["MLMODELSCOPE_SERVER"] == URL and os.environ["MLMODELSCOPE_TOKEN"] == TOKEN


def test_a_verb_of_this_machine_is_refused_by_its_name_and_not_by_the_token() -> None:
    with pytest.raises(UsageError, match="`doctor` is done on this machine") as refused:
        take_server(["mlmodelscope", "--token", TOKEN, "--server", URL, "doctor"])
    assert TOKEN not in str(refused.value) and os.environ["MLMODELSCOPE_TOKEN"] == ""


def test_a_value_that_contains_the_option_names_no_server() -> None:
    words = ["mlmodelscope", "init", "a--server.onnx"]
    assert take_server(list(words)) == words


@pytest.mark.parametrize("words", [["models", "--server"], ["--server=", "models"]])
def test_an_option_without_a_value_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--server needs a value"):
        take_server(["mlmodelscope", *words])


def test_verbs_about_servers_keep_their_own_options() -> None:
    words = ["mlmodelscope", "agent", "--server", URL, "--token", TOKEN]
    assert take_server(list(words)) == words
