"""Other people's files are hostile: whatever stands in one, there is a manifest or a clear refusal."""

import copy
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.author.config_file import parse_config
from mlmodelscope.author.literal import LiteralError, parse_literal
from mlmodelscope.author.make import make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.errors import ManifestError, MLModelScopeError
from mlmodelscope.manifest.load import parse_manifest

from . import samples

MODELS = Path(__file__).parent.parent / "model_file" / "files"
ODD = [
    None,
    True,
    -1,
    0,
    3.5,
    10**30,
    1e308,
    -0.0,
    "",
    "no",
    "a" * 5000,
    "\x00\x1b[31m",
    "\ud800",
    "x\u2028y\x85z",
    "# not a comment\nname: evil",
    "- --mean_values=[1,2,3,4,5,6]",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"type": {"type": []}},
    ["a", 1, {}],
    {"height": 0, "width": 70000},
]


def mutations(text: str, seed: int, count: int) -> list[str]:
    """Letters, lines and values changed, a few at a time."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        if text.lstrip().startswith("{") and chance.random() < 0.7 and "'" not in text[:5]:
            found.append(_mutate_json(text, chance))
        else:
            found.append(_mutate_text(text, chance))
    return found


def _mutate_json(text: str, chance: random.Random) -> str:
    data = json.loads(text)
    for _ in range(chance.randint(1, 3)):
        holder: Any = data
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(holder[key], (dict, list)) and chance.random() < 0.6:
                holder = holder[key]
                continue
            holder[key] = copy.deepcopy(chance.choice(ODD))
            break
    return json.dumps(data)


def _mutate_text(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        kind, at = chance.randrange(6), chance.randrange(max(1, len(text)))
        if kind == 0:
            text = text[:at] + chance.choice("{}[]:,-#&*!|>'\"%@`\\\x00\n\t 0é\u2028") + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + chance.randint(1, 8) :]
        elif kind == 2:
            text = text[:at]
        elif kind == 3:
            text = text[:at] + text[at : at + 40] + text[at:]
        elif kind == 4:
            numbers = list(re.finditer(r"\d+(\.\d+)?", text))
            if numbers:
                match = chance.choice(numbers)
                odd = chance.choice(["-1", "0", "1e400", "nan", ".inf", "9" * 400, "0x10", "1_0", "true", "[]", "{}"])
                text = text[: match.start()] + odd + text[match.end() :]
        else:
            words = list(re.finditer(r"(?<=: )[^\n,{}\[\]]+", text))
            if words:
                match = chance.choice(words)
                odd = chance.choice(["null", "[a, b]", "{a: 1}", "~", "'x\\ny'", "!!python/object:os.system x", "yes"])
                text = text[: match.start()] + odd + text[match.end() :]
    return text


@pytest.mark.parametrize("name", samples.TEXTS)
def test_no_change_of_a_configuration_ends_in_anything_but_a_manifest_or_a_refusal(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    refused = 0
    for number, text in enumerate(mutations(samples.TEXTS[name], seed=len(name), count=45)):
        path.write_bytes(text.encode(errors="surrogatepass"))
        model = MODELS / "onnx_logits.onnx" if number % 3 == 0 else None
        try:
            written = make_manifest(Request(model=model, configs=(path,), output=tmp_path / "out.yml"))
        except MLModelScopeError as error:
            assert error.message
            refused += 1
            continue
        parse_manifest(written.text.encode())
        written.labels_text.encode()
    assert refused < 45


def test_words_of_strangers_cannot_leave_their_comment(tmp_path: Path) -> None:
    path = tmp_path / "config"
    evil = {**samples.VIT, "x\nname: evil": "y\nname: evil", "image_processor_type": "A\nname: evil\u2028name: evil"}
    path.write_text(json.dumps(evil))
    written = make_manifest(Request(configs=(path,), name="good"))
    assert parse_manifest(written.text).name == "good"


@pytest.mark.parametrize(
    "raw",
    [
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b"{'a': " * 100 + b"1" + b"}" * 100,
        b"\xff\xfe",
        b"",
        b"[1, 2]",
        b"- a\n- b",
        b'{"size": ' + b"9" * 10_000 + b"}",
        b"x" * (5 << 20),
        b"a: &a [*a]",
        b"a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
        b"d: &d [*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]",
    ],
)
def test_bombs_are_refused(raw: bytes) -> None:
    with pytest.raises(ManifestError):
        parse_config(raw, "bomb")


def test_printed_data_is_read_and_nothing_of_it_is_run() -> None:
    assert parse_literal("{'a': (1, 2.5, -3e2), 'b': None, 'c': [True, False]}") == {
        "a": [1, 2.5, -300.0],
        "b": None,
        "c": [True, False],
    }
    assert parse_literal("f(x=[224] y=A.B)") == {"": "f", "x": [224], "y": "A.B"}
    for text in ("{'a': }", "f(", "{1, 'a': 2}", "a b", "(" * 1000, "1 + 1", "{**a}", "'open"):
        with pytest.raises(LiteralError):
            parse_literal(text)


def test_a_model_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"hello")
    with pytest.raises(MLModelScopeError):
        make_manifest(Request(model=path))
