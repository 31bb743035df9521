"""Python's way of printing data, read without Python's own reader, which a hostile text can crash.

`{'mean': (0.485, 0.456, 0.406)}` becomes a mapping; `ImageClassification(crop_size=[224] …)` becomes a mapping with
the name under `""`; a bare word such as `InterpolationMode.BILINEAR` becomes a text. Commas count as blanks, because
torchvision prints one parameter a line without any.
"""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 32
MAX_TOKENS = 200_000

_TOKEN = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<angle><[^<>]{0,500}>)"""
    r"""|(?P<number>[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"""
    r"""|(?P<word>[A-Za-z_][\w.]*)"""
    r"""|(?P<mark>[()\[\]{}:=])"""
    r"""|(?P<blank>[\s,]+)""",
    re.DOTALL,
)
_WORDS = {"True": True, "False": False, "None": None}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ENUM = re.compile(r"<([\w.]+):.*>", re.DOTALL)


class LiteralError(ValueError):
    """The text is no printed data."""


def parse_literal(text: str) -> Any:
    tokens = _tokens(text)
    value, end = _value(tokens, 0, 0)
    if end != len(tokens):
        raise LiteralError(f"`{tokens[end][1][:20]}` was not expected here")
    return value


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) > MAX_TOKENS:
            raise LiteralError(f"cannot read it from `{text[position : position + 20]}` on")
        position = match.end()
        if match.lastgroup and match.lastgroup != "blank":
            tokens.append((match.lastgroup, match.group()))
    return tokens


def _value(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Any, int]:
    if at >= len(tokens) or depth > MAX_DEPTH:
        raise LiteralError("it ends too early" if at >= len(tokens) else "it is nested too deeply")
    kind, text = tokens[at]
    if kind == "text":
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL), at + 1
    if kind == "angle":
        enum = _ENUM.fullmatch(text)
        return (enum[1] if enum else text), at + 1
    if kind == "number":
        return _number(text), at + 1
    if kind == "word":
        if at + 1 < len(tokens) and tokens[at + 1][1] == "(":
            return _call(tokens, at, depth)
        return _WORDS.get(text, text), at + 1
    if text in _CLOSING:
        return _collection(tokens, at, depth)
    raise LiteralError(f"`{text}` was not expected here")


def _number(text: str) -> int | float:
    try:
        return int(text.replace("_", "")) if re.fullmatch(r"[-+]?[\d_]+", text) else float(text.replace("_", ""))
    except ValueError:
        raise LiteralError(f"`{text[:20]}` is no number") from None


def _collection(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Any, int]:
    closing = _CLOSING[tokens[at][1]]
    items: list[Any] = []
    pairs: dict[str, Any] = {}
    at += 1
    while at < len(tokens) and tokens[at] != ("mark", closing):
        item, at = _value(tokens, at, depth + 1)
        if at < len(tokens) and tokens[at] == ("mark", ":"):
            pairs[str(item)], at = _value(tokens, at + 1, depth + 1)
        else:
            items.append(item)
    if at >= len(tokens):
        raise LiteralError("a bracket is not closed")
    if pairs and items:
        raise LiteralError("a mapping holds something without a key")
    return (pairs if closing == "}" and not items else items), at + 1


def _call(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Any, int]:
    """`Name(key=value …)`; what has no key is kept under its number."""
    result: dict[str, Any] = {"": tokens[at][1]}
    at += 2
    while at < len(tokens) and tokens[at] != ("mark", ")"):
        if tokens[at][0] == "word" and at + 1 < len(tokens) and tokens[at + 1] == ("mark", "="):
            key = tokens[at][1]
            result[key], at = _value(tokens, at + 2, depth + 1)
        else:
            result[str(len(result) - 1)], at = _value(tokens, at, depth + 1)
    if at >= len(tokens):
        raise LiteralError("a bracket is not closed")
    return result, at + 1
