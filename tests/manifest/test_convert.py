"""Conversion keeps each comment once, changes no value, and can be repeated."""

import random
import re
from pathlib import Path

import pytest

from mlmodelscope.manifest.convert import convert_document, unclear
from mlmodelscope.manifest.load import parse_document, parse_manifest
from mlmodelscope.manifest.source import parse_source

LISTING = (Path(__file__).parent / "listing1.yml").read_text()
NOISY = """\
# c0

#c1
name: a # c2
author: 'b#c'
version: 1.0 # c3 # still c3
"task": classification # c4
description: "x # no comment
  y: # nor this" # c5
framework: {name: fake, # c6
  version: '*'} # c7
licence: >  # c8
  folded # text
  # more text

# c9
references: # c10
  # c11
  - https://example.org/#fragment
  - short # c12
inputs:
  # c13
  - type: image # c14
    # c15
    processing: [decode, {resize: 8}] # c16
    # c17
outputs: [{type: probability}] # c18
source:
  graph_path: https://example.org/x.zip#member # c19
setup: | # c20
  # code, no comment
  x = 1 # nor here
attributes:
  "quoted: # key": 1 # c21
  ? long # c22
  : value # c23
  a: &anchor {b: 1} # c24
  c: *anchor # c25
  url: http://a/b#c
  last: x#y # c26
# c27
"""


def convert(text: str, explain: bool = False) -> str:
    return convert_document(parse_document(text, "model.yml"), explain=explain)


def test_each_comment_is_kept_exactly_once() -> None:
    text = convert(NOISY)
    for number in range(28):
        assert len(re.findall(rf"\bc{number}\b", text)) == (2 if number == 3 else 1), number


def test_comments_change_no_value() -> None:
    bare = re.sub(r"( # |# ?|#)c\d+.*", "", NOISY)
    assert parse_manifest(convert(NOISY)) == parse_manifest(NOISY) == parse_manifest(bare)
    assert "comment" not in " ".join(line for line in convert(NOISY).splitlines() if line.startswith("#"))


def test_comments_stay_where_they_belong() -> None:
    text = convert(NOISY)
    assert text.startswith("# c0\n# c1\nname: a  # c2\n") and "author: b#c\n" in text
    assert "  # c13\n  - type: image  # c14\n    # c15\n" in text
    assert (
        "  # c11\n  - https://example.org/#fragment\n  - short  # c12\n" in text
        and "setup: |  # c20\n  # code, no comment\n" in text
    )


def test_a_comment_that_is_indented_further_ends_what_comes_before() -> None:
    text = convert(NOISY)
    assert text.index("c17") > text.index("no place of their own") > text.index("last: x#y")


def test_converting_again_changes_nothing() -> None:
    for text in (NOISY, LISTING):
        once = convert(text)
        assert convert(once) == once


def test_windows_line_ends_and_a_byte_order_mark_are_no_text() -> None:
    document = parse_document(b"\xef\xbb\xbf" + NOISY.replace("\n", "\r\n").encode(), "model.yml")
    assert convert_document(document) == convert(NOISY)


def test_explanations_are_comments_beside_implied_values() -> None:
    old = "name: x\nversion: 1\nframework: {name: Caffe}\ninputs: [{type: image, parameters: {scale: 2}}]\n"
    old += "output: {type: feature, parameters: {features_url: synset.txt}}\nmodel: {graph_path: g.pb}\n"
    text = convert(old, explain=True)
    assert "task: classification  # is what V1's `output.type: feature` stands for" in text
    assert "- color: {color_layout: BGR}  # `color_mode` is not written" in text
    assert parse_manifest(text) == parse_manifest(old)
    assert [note.kind for note in unclear(parse_document(old))] == ["unclear"]


def test_an_explanation_with_a_line_end_in_it_adds_no_keys() -> None:
    old = 'name: x\nversion: 1\ntask: general\nmodality: "a\\nname: y\\e"\nframework: {name: f}\n'
    old += 'inputs: [{type: "p\\nq"}]\noutputs: [{type: "r\\ns: t"}]\n'
    old += 'model: {graph_path: g}\npreprocess: "def preprocess(): 0"\n'
    assert parse_manifest(convert(old, explain=True)).digest == parse_manifest(old).digest


def test_a_kind_that_was_said_is_said_again_where_it_is_needed() -> None:
    text = convert("kind: hardware\nname: any\nversion: 1.0.0\n")
    assert text == "kind: hardware\nname: any\nversion: 1.0.0\n" and convert(text) == text


def test_not_a_number_is_kept() -> None:
    text = convert(LISTING + "attributes: {a: .nan, b: !!float 5}\n")
    assert "a: .nan" in text and "b: 5.0" in text
    assert parse_manifest(text).digest == parse_manifest(LISTING + "attributes: {a: .nan, b: 5.0}\n").digest


@pytest.mark.parametrize("seed", range(40))
def test_comments_strewn_anywhere_are_kept_and_harmless(seed: int) -> None:
    chance = random.Random(seed)
    lines: list[str] = []
    for number, line in enumerate(LISTING.splitlines()):
        if chance.random() < 0.3:
            lines.append(" " * chance.randrange(6) + f"# own{number}.")
        lines.append(line.partition(" #")[0] + f" # behind{number}." if chance.random() < 0.3 else line)
    text = "\n".join(lines) + "\n"
    done = convert(text)
    assert parse_manifest(done) == parse_manifest(LISTING) and convert(done) == done
    for word in re.findall(r"(?:own|behind)\d+\.", text):
        assert done.count(f"# {word}") == 1


@pytest.mark.parametrize(
    "tag", ["!!bool maybe", "!!int 1.5", "!!null x", "!!float word", "!!timestamp 2020-01-01", "!x 1"]
)
def test_a_tag_that_does_not_fit_is_refused(tag: str) -> None:
    with pytest.raises(Exception, match=r"tag .* \(<text>:1:4\)"):
        parse_source(f"a: {tag}")
