"""Every manifest that the original project published loads, is converted for good, and loses nothing."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.convert import convert_document
from mlmodelscope.manifest.load import Document, open_document, parse_document
from mlmodelscope.manifest.source import SourceList, SourceMap, parse_source

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parent.parent.parent.parent / "shared")
CORPUS = SHARED / "corpus"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the development data folder is not here"),
]


@cache
def read() -> tuple[dict[Path, str], dict[Path, str]]:
    """(conversion of every file that can be read, why not for the others)."""
    converted, refused = {}, {}
    for path in sorted(CORPUS.rglob("*.yml")):
        try:
            converted[path] = convert_document(open_document(path))
        except ManifestError as error:
            refused[path] = str(error)
    return converted, refused


def test_all_load_and_three_have_a_key_twice() -> None:
    converted, refused = read()
    twice = Counter[str]()
    for path in converted:
        document = open_document(path)
        document.manifest()
        twice += Counter(note.kind for note in document.notes if note.kind == "repeated")
    assert (len(converted), refused, twice) == (443, {}, {"repeated": 3})


def test_conversion_is_todays_form_and_can_be_repeated() -> None:
    for path, text in read()[0].items():
        again = parse_document(text, str(path), path.parent)
        assert again.dialect is None and not again.notes, path
        assert convert_document(again) == text, path


def test_conversion_means_the_same() -> None:
    for path, text in read()[0].items():
        before, after = open_document(path).manifest(), parse_document(text, str(path), path.parent).manifest()
        assert before == after and before.digest == after.digest, path


def test_every_comment_is_there_once() -> None:
    for path, text in read()[0].items():
        written = Counter(re.findall(r"(?:^|\s)# ?(\S[^\n]*?)[ \t]*$", path.read_text(), re.MULTILINE))
        kept = Counter(re.findall(r"(?:^|\s)# ?(\S[^\n]*?)[ \t]*$", text, re.MULTILINE))
        del kept["Comments of the source that have no place of their own here:"]
        assert written == kept, path


def scalars(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from scalars(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item, f"{path}[]")
    elif value is not None and value != "":  # which mean nothing
        yield path, value


def spell(value: Any) -> str:
    """Numbers by their value, texts by their words."""
    text = " ".join(str(getattr(value, "text", value)).split())
    number = re.fullmatch(r"\d+\.?\d*", text)
    return f"{float(text):g}" if number else text.lower() if isinstance(value, bool) else text


def reasons(data: Any) -> Iterator[str]:
    if isinstance(data, SourceMap):
        yield from data.reasons.values()
    for item in data.values() if isinstance(data, SourceMap) else data if isinstance(data, SourceList) else ():
        yield from reasons(item)


def is_accounted_for(path: str, value: Any, document: Document, texts: list[str]) -> bool:
    """By a documented rule of V0 and V1, and nothing else."""
    word = str(getattr(value, "text", value))
    if path == ".model.is_archive":  # true: `archive#member`
        source = document.data["source"]["graph_path"]
        return value is False or "#" in source or any("is_archive" in note.message for note in document.notes)
    if path.endswith(".dimensions[]"):  # channels: V1 writes [channels, height, width]
        return value == 3 or any("channels" in note.message for note in document.notes)
    if any(f"`{word}`" in reason or f": {word}`" in reason for reason in reasons(document.data)):
        return True
    if any(f"`{word}`" in note.message or f": {word}`" in note.message for note in document.notes):
        return True
    joined = " ".join(word.split()).strip("/")  # `base_url` and `graph_path` are one address now, a name one word
    return isinstance(value, str) and any(joined in text for text in texts)


def test_no_value_is_lost() -> None:
    for path in read()[0]:
        document = open_document(path)
        kept = list(scalars(document.data))
        left = Counter(spell(value) for _, value in kept)
        texts = [spell(value) for _, value in kept if isinstance(value, str)]
        written = sorted(scalars(parse_source(path.read_bytes())), key=lambda item: item[0] == ".model.is_archive")
        for where, value in written:  # the one false that is not kept must not be taken for another
            if left[spell(value)]:
                left[spell(value)] -= 1
            else:
                assert is_accounted_for(where, value, document, texts), (path, where, value)
