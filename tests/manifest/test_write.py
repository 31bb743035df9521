"""Whatever is written as YAML is read as the same, letter by letter."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from budget import tries
from mlmodelscope.manifest.source import parse_source
from mlmodelscope.manifest.write import spell_number, spell_text, write_manifest

CODE = "def f(x):\n    # a: b\n\treturn x  \n"
# fmt: off
ODD = [
    "", " ", "a ", " a", "\n", "\n\n", "a\n", "a\n\n", "\na", " \n", "a\n b", "  a\nb", "a: b", "a #b", "#a", "a#b",
    "- a", "-", "--- a", "...", "? a", "!a", "&a", "*a", "%a", "@a", "`a", "|", ">", "null", "~", "true", "yes", "No",
    "on", "y", "0o17", "0x1F", "0b1", "017", "1_000", "1e3", "1.", ".5", ".inf", "-.Inf", ".nan", "2020-01-01", "1:20",
    "=", "<<", "\t", "a\tb", "\ta", "'", '"', "\\", "a'b", "a,b", "[a]", "{a}", "a]", ":", "a:", ":a", "a:b", ": ",
    "a\u2028b", "\u2029", "\x85", "\ufeff", "\u00a0a", "é", "\U0001f600", "x" * 200, "k" * 1100, "word " * 60, CODE,
    ("word " * 60).strip(), "a\r\nb", "a\rb", "\x07", "\x00", "\x1b[0m", "\x7f", "\x80", "a\n---\nb", "a\n...\n",
    "https://a.org/#b?c=d, e",
]
# fmt: on
TEXT = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.sampled_from(ODD), max_size=4).map("".join),
    st.lists(st.sampled_from([*ODD, *["word"] * 90]), max_size=60).map(" ".join),
    st.lists(st.sampled_from(ODD), max_size=5).map("\n".join),
)
LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT)
DATA = st.recursive(
    LEAF, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)), max_leaves=12
)


def exact(value: Any) -> Any:
    """In a form in which 1, 1.0 and True are three things, and NaN is itself."""
    if isinstance(value, dict):
        return {str(key): exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value if value is None or isinstance(value, bool) else str(value)
    return ("whole", int(value)) if isinstance(value, int) else ("real", repr(float(value)))


@settings(max_examples=tries(60, 5000), suppress_health_check=list(HealthCheck))
@given(st.dictionaries(TEXT, DATA, min_size=1, max_size=5))
@example({text: text for text in ODD})
@example({"list": ODD})
@example({"deep": [[[{"a": {"b": [ODD]}}]]]})
@example({"steps": [{"step": dict.fromkeys(ODD, 1)}]})
def test_any_data_survives(data: dict[str, Any]) -> None:
    assert exact(parse_source(write_manifest(data).encode())) == exact(data)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_survive_in_every_position(text: str) -> None:
    data = {
        "plain": text,
        text: 1,
        "list": [text, 1],
        "mapping": {"in": {text: text}},
        "step": [{"name": {"key": text}}],
    }
    assert exact(parse_source(write_manifest(data))) == exact(data)


def test_people_can_read_it() -> None:
    data = {
        "attributes": {"z": None},
        "name": "toy",
        "version": "1.0",
        "inputs": [{"type": "image", "processing": [{"resize": {"dimensions": [3, 8, 8]}}]}],
        "references": ["https://example.org/a#b"],
        "description": "word " * 30 + "end",
        "run": "def run(ctx, data):\n  return 1\n",
    }
    assert write_manifest(data) == (
        "name: toy\nversion: '1.0'\ndescription: >-\n"
        "  word word word word word word word word word word word word word word word word word word word word word\n"
        "  word word word word word word word word word end\n"
        "references:\n  - https://example.org/a#b\n"
        "inputs:\n  - type: image\n    processing:\n      - resize: {dimensions: [3, 8, 8]}\n"
        "run: |\n  def run(ctx, data):\n    return 1\n"
        "attributes:\n  z:\n"
    )


def test_comments_stay_beside_what_they_are_about() -> None:
    data = {"name": "toy", "references": ["a", "b"], "inputs": [{"type": "image"}]}
    above = {("references", 1): "the second", ("inputs", 0, "type"): "first\nand more"}
    text = write_manifest(data, above=above, beside={("name",): "a\nb\x07", ("references", 0): "one"})
    assert text == (
        "name: toy  # a b\\x07\nreferences:\n  - a  # one\n  # the second\n  - b\n"
        "inputs:\n  # first\n  # and more\n  - type: image\n"
    )
    assert parse_source(text) == data


def test_numbers_keep_their_spelling_and_their_kind() -> None:
    for text in ("1.10", "1_000", "0x1F", "46.", "1e3", ".5", "+7", "-.Inf"):
        assert spell_number(parse_source(f"a: {text}")["a"]) == text
    assert parse_source(f"a: {spell_number(parse_source('a: !!float 5')['a'])}")["a"] == 5.0
    assert spell_number(1e-05) == "1.0e-05" and spell_number(2**70) == str(2**70)


@pytest.mark.parametrize("text", ["yes", "2020-01-01", "1:20", "0777", "1e3", "=", "~"])
def test_words_that_older_readers_take_for_something_else_are_quoted(text: str) -> None:
    assert spell_text(text) == f"'{text}'"


@pytest.mark.parametrize("text", ["a b", "mlcn/tensorflow:1-13", "https://a.org/x#y", "it's", "a,b", "-x"])
def test_plain_words_stay_plain(text: str) -> None:
    assert spell_text(text) == text


def test_a_long_text_takes_no_longer_than_it_must() -> None:
    for text in ("a" + " " * 200_000 + "b", "a: #" * 50_000, "#" * 200_000, "a\t" * 100_000):
        assert parse_source(write_manifest({"a": text}))["a"] == text
