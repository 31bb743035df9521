"""Names of classes come in many spellings, and much text is none."""

import pytest

from mlmodelscope.model_file.labels import labels_from_lines, labels_from_text, labels_of


@pytest.mark.parametrize(
    "text",
    [
        "{0: 'cat', 1: 'dog'}",
        '{"1": "dog", "0": "cat"}',
        '{"cat": 0, "dog": 1}',
        "{'dog': 1, 'cat': 0}",
        '["cat", "dog"]',
        "['cat', 'dog']",
        "('cat', 'dog',)",
        "cat, dog",
        "cat\ndog\n",
    ],
)
def test_every_spelling_gives_the_same_names(text: str) -> None:
    assert labels_from_text(text) == ("cat", "dog")


@pytest.mark.parametrize("text", ["", "80", "{0: 'cat', 2: 'dog'}", "[1, 2]", "{0: [", "[" * 100_000, "{'" * 50_000])
def test_what_is_no_list_gives_none(text: str) -> None:
    assert labels_from_text(text) == ()


def test_quotes_and_lines_inside_stay() -> None:
    assert labels_from_text("{0: \"jack-o'-lantern\", 1: 'a\\'b'}") == ("jack-o'-lantern", "a'b")
    assert labels_from_lines("a\n\nc\n\n") == ("a", "", "c")


def test_only_telling_keys_are_asked_and_control_characters_go() -> None:
    assert labels_of({"author": "me, you", "model.names": "['\x1b[31mcat']"}) == ("?[31mcat",)
