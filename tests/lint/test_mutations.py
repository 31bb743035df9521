"""Whatever stands in a file, reading, checking, mending and writing it never ends in a traceback.

Each damaged file is made from its number and our samples alone.
"""

import copy
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from budget import tries
from mlmodelscope.errors import ManifestError
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.fix import mend
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.write import write_manifest

from .samples import SAMPLES

CASES = tries(500, 20_000)
PARTS = 10
ROOT = Path(__file__).parent.parent.parent
GRAPHS = ROOT / "manifests" / "models"  # where model files are at hand, rules look into them
TEXTS = [*SAMPLES.values(), *(path.read_text() for path in sorted((ROOT / "manifests").rglob("*.yml")))]
ODD = [
    *("", "~", "null", "true", "no", "0", "-1", "1e400", ".nan", ".inf", "-.inf", "0x1F", "1_000", "2024-01-01", "'1'"),
    *("99999999999999999999999999999999", "9" * 400, "1." + "0" * 50, "[]", "{}", "[1, [2, [3]]]", "{a: {b: {c: d}}}"),
    *(
        "[null]",
        "[{}]",
        "[[]]",
        "{x: }",
        "- x",
        "|\n  text",
        "'\\ud800'",
        '"\\0"',
        '"\\U0001F600"',
        "ü",
        "\u2028",
        "\ufeff",
    ),
    *("!!python/object:os.system x", "!!binary aGk=", "!!set {a, b}", "&a [*a]", "*nothing", "<<: {a: b}", "? [x] : y"),
    *("[" * 70 + "]" * 70, "{a: " * 70 + "}" * 70, "[" * 30, "x" * 5000, "a: b: c", "@", "`", "%", "# only a comment"),
    *(
        "http://[",
        "file://host/x",
        "pypi:x",
        "npm:@/",
        "https://user:pa/ss@host/x",
        "/etc/passwd",
        "..",
        "#",
        "x.zip#a",
    ),
    *(
        "md5:",
        "sha256:zz",
        "d" * 32,
        ">=1 <",
        "^",
        "1.2.3.4.5",
        "v1",
        "float33",
        "imagee",
        "BGRR",
        "HWCC",
        "clasification",
    ),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        7,
        255,
        10**30,
        -(10**18),
        0.0,
        0.5,
        1e308,
        float("nan"),
        float("inf"),
        "",
        " ",
        "x",
    ),
    *(
        [],
        {},
        [None],
        [[]],
        [{}],
        {"a": None},
        {"name": None},
        {"": ""},
        [1, 2],
        [1, 2, 3],
        [0.485, 0.456, 0.406],
        "1.10",
    ),
    *(
        "image",
        "softmax",
        "RGB",
        "BGR",
        "functions",
        "training",
        "def run(ctx, data): pass",
        "def (",
        "import os\nx",
        "any",
    ),
    *("https://x/y", "a/b.onnx", "x" * 300, "\x00", "\n", "\r\n", "\u2028", "#", "- a", "{", "2020-01-01", "~", "null"),
    *(["softmax"], ["decode", {"resize": [2, 2]}], [{"mean": 1, "rescale": 2}], {"decode": None}, {"mean": {}}, "cpu"),
]


def mutate(number: int) -> bytes:
    """A damaged manifest."""
    chance = random.Random(number)
    text = chance.choice(TEXTS)
    if number % 2:
        return yaml.safe_dump(transplant(yaml.safe_load(text), chance), sort_keys=False, allow_unicode=True).encode()
    for _ in range(chance.choice((1, 1, 2, 3))):
        text = chance.choice((replace_value, replace_value, rename_key, drop_line, double_line, swap_lines, indent))(
            text, chance
        )
    raw = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.2:
        raw = flip_bytes(raw, chance)
    return raw


def transplant(tree: Any, chance: random.Random) -> Any:
    """Values in places where nobody expects them."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        holders = [(holder, key) for holder, key in places(tree) if holder]
        holder, key = chance.choice(holders)
        other, there = chance.choice(holders)
        deed = chance.randrange(6)
        if deed == 0:
            holder[key] = copy.deepcopy(other[there])
        elif deed == 1:
            holder[key] = [copy.deepcopy(holder[key])] * chance.choice((1, 2))
        elif deed == 2:
            holder[key] = {str(there): copy.deepcopy(holder[key])}
        elif deed == 3 and isinstance(holder, dict):
            holder[str(there)] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
    return tree


def places(tree: Any) -> list[tuple[Any, Any]]:
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    return [(tree, key) for key in keys] + [place for key in keys for place in places(tree[key])]


def replace_value(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if ":" in line]
    if not places:
        return text + chance.choice(ODD)
    index = chance.choice(places)
    key, _, _ = lines[index].partition(":")
    odd = chance.choice(ODD).replace("\n", "\n" + " " * (len(key) - len(key.lstrip()) + 2))
    lines[index] = f"{key}: {odd}"
    return "\n".join(lines)


def rename_key(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if ":" in line.strip()[1:]]
    if not places:
        return text
    index, other = chance.choice(places), chance.choice(places)
    key = lines[index].partition(":")[0]
    word = key.strip(" -#")
    at = chance.randrange(len(word)) if word else 0
    new = chance.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + "x" + word[at:],
            word.upper(),
            lines[other].partition(":")[0].strip(" -"),
        )
    )
    lines[index] = key.replace(word, new, 1) + lines[index][len(key) :] if word else lines[index]
    return "\n".join(lines)


def drop_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.pop(chance.randrange(len(lines)))
    return "\n".join(lines)


def double_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines)


def swap_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def indent(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    index = chance.randrange(len(lines))
    lines[index] = " " * chance.choice((1, 2, 4)) + lines[index] if chance.random() < 0.5 else lines[index].lstrip()
    return "\n".join(lines)


def flip_bytes(raw: bytes, chance: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(chance.choice((1, 2, 8))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.choice((0, 9, 10, 13, 32, 39, 58, 123, 133, 255, 0xC3))
    return bytes(changed)


def survive(raw: bytes, folder: Path) -> None:
    try:
        document = parse_document(raw, "x.yml", folder)
        manifest = document.manifest()
    except ManifestError as error:
        assert error.problems
        manifest = None
    subject, findings = check_text(raw, "x.yml", folder)
    assert (manifest is None) == any(found.code in ("M000", "M001") for found in findings)
    mended = mend(subject, findings)
    if manifest is None:
        return
    assert mended.subject.manifest is not None
    again = write_manifest({"kind": subject.kind, **subject.form}, subject.kind)
    assert parse_document(again, "again.yml", folder).manifest().digest == manifest.digest, again


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_file_is_told_about_and_nothing_else_happens(part: int, tmp_path: Path) -> None:
    for number in range(part, CASES, PARTS):
        raw = mutate(number)
        try:
            survive(raw, GRAPHS if number % 3 else tmp_path)
        except Exception as error:
            raise AssertionError(f"case {number}: {error!r}\n{raw!r}") from error


@pytest.mark.parametrize(
    "text",
    [
        SAMPLES["V2"].replace("before_preprocess: |\n  import os", "before_preprocess: ''"),
        SAMPLES["V1C"].replace("graph_path: https://example.org/model.pb", "graph_path: " + "9" * 400),
        SAMPLES["CLOUD20"].replace("layer_name: input_tensor", "laxyer_{ame: input_tensor"),
    ],
)
def test_what_once_went_wrong_does_not_any_more(text: str, tmp_path: Path) -> None:
    survive(text.encode(), tmp_path)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_a_manifest(name: str, tmp_path: Path) -> None:
    survive(SAMPLES[name].encode(), tmp_path)
    subject, _ = check_text(SAMPLES[name], "x.yml", tmp_path)
    assert subject.manifest is not None, subject.problems
