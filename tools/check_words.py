"""Report words that people should not read: phrases of tools/words.toml, and British spellings, with what to write.

It reads what people read: strings of the source (help, messages, docstrings that become documentation), Markdown pages,
report templates, comments of .proto files, and the texts of the web pages. Names in code, quoted code and comments are
left alone: a false alarm is worse than a miss.

    python tools/check_words.py [FILE …]
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_name("words.toml")
_ENDINGS = "(?=(?:e|es|ed|er|ers|ing|ations?|able)\\b)"
_PARAGRAPH = re.compile(r"^## ", re.MULTILINE)


@dataclass(frozen=True)
class Word:
    """One that should not be read, and what to write in its place."""

    pattern: re.Pattern[str]
    better: str
    name: str
    is_spelling: bool = False


@dataclass(frozen=True)
class Finding:
    file: str
    line: int
    found: str
    better: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.found}`: write {self.better}"


@dataclass(frozen=True)
class Table:
    words: tuple[Word, ...]
    files: tuple[str, ...]
    spelling: tuple[str, ...]
    """Files whose spelling is checked, too."""
    exceptions: tuple[tuple[str, frozenset[str]], ...]

    def allows(self, file: str, word: Word) -> bool:
        if word.is_spelling and not any(fnmatch(file, where) for where in self.spelling):
            return True
        return any(fnmatch(file, where) and word.name in words for where, words in self.exceptions)


def read_table(path: Path = TABLE) -> Table:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    words = [*_words(data["phrases"]), *_words(data["spelling"], is_spelling=True)]
    for stem in data["ise"]["stems"]:
        pattern = re.compile(rf"\b({stem})is{_ENDINGS}", re.IGNORECASE)
        words.append(Word(pattern, f"`{stem}iz…`", f"{stem}is", is_spelling=True))
    known = {word.name for word in words}
    exceptions = []
    for each in data["exception"]:
        if not each["reason"].strip() or not set(each["words"]) <= known:
            raise SystemExit(f"{path.name}: the exception for {each['files']} needs a reason, and words of the table")
        exceptions += [(where, frozenset(each["words"])) for where in each["files"]]
    return Table(tuple(words), tuple(data["read"]["files"]), tuple(data["read"]["spelling"]), tuple(exceptions))


def _words(table: dict[str, str], is_spelling: bool = False) -> Iterator[Word]:
    """`word*` stands for a word with any ending; a space for any white space, for lines are wrapped."""
    for written, better in table.items():
        text = re.escape(written.removesuffix("*")).replace("\\ ", "\\s+")
        text = rf"\b{text}\w*" if written.endswith("*") else rf"\b{text}(?!\w)"
        yield Word(re.compile(text, re.IGNORECASE), f"`{better}`", written, is_spelling)


def findings(files: Iterable[Path], table: Table, root: Path = ROOT) -> Iterator[Finding]:
    for path in files:
        name = path.relative_to(root).as_posix()
        words = [word for word in table.words if not table.allows(name, word)]
        for first_line, text in texts_of(path):
            for word in words:
                for match in word.pattern.finditer(text):
                    line = first_line + text.count("\n", 0, match.start())
                    yield Finding(name, line, " ".join(match[0].split()), word.better)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of what people read in a file."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _of_python(content)
    elif path.suffix == ".md":
        yield 1, _of_markdown(_unreleased(content) if path.name == "CHANGELOG.md" else content)
    elif path.suffix in (".ts", ".tsx"):
        yield from _of_pages(content)
    elif path.suffix == ".proto":
        yield 1, "\n".join(line.partition("//")[2] for line in content.splitlines())
    else:
        yield 1, re.sub(r"(?s)<%!?.*?%>|<(script|style).*?</\1>|\$\{[^}]*\}|<[^>]*>", _blank, content)


def _of_python(content: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_prose(node.value):
            yield node.lineno, re.sub(r"`[^`\n]*`", _blank, node.value)


def _is_prose(text: str) -> bool:
    """A word alone, in small letters, is a name that programs use; so is anything with an underscore."""
    return (" " in text.strip() or text[:1].isupper()) and not re.fullmatch(r"\w*_\w*", text)


def _of_markdown(content: str) -> str:
    """Without code, and without addresses of links."""
    without_blocks = re.sub(r"(?ms)^ *(`{3,}|~{3,}).*?^ *\1", _blank, content)
    return re.sub(r"`[^`\n]*`|\]\([^)\n]*\)|https?://\S+|<[^>\n]*>", _blank, without_blocks)


def _unreleased(content: str) -> str:
    """What is released stays as it was."""
    titles = [match.start() for match in _PARAGRAPH.finditer(content)]
    return content[: titles[1]] if len(titles) > 1 else content


_STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
_PIECE = re.compile(rf"(?P<comment>/\*.*?\*/|(?<!:)//[^\n]*)|(?P<string>{_STRING})", re.DOTALL)
_ELEMENT_TEXT = re.compile(r"(?<=[>}])[^<>{}=;()&|]*[A-Za-z][^<>{}=;()&|]*(?=[<{])")


def _of_pages(content: str) -> Iterator[tuple[int, str]]:
    """Strings that are prose, and texts between tags. Apostrophes are typographic there, so quotes pair."""
    for match in _PIECE.finditer(content):
        if match["string"] and _is_prose(match["string"][1:-1]):
            text = re.sub(r"\$\{[^}]*\}", _blank, match["string"])
            yield content.count("\n", 0, match.start()) + 1, text
    bare = _PIECE.sub(_blank, content)
    for match in _ELEMENT_TEXT.finditer(bare):
        yield bare.count("\n", 0, match.start()) + 1, match[0]


def _blank(match: re.Match[str]) -> str:
    """As many lines, with nothing to read on them; a stop, so that no phrase reaches across."""
    return "\n" * match[0].count("\n") + "\x00"


def files_of(table: Table, root: Path = ROOT) -> list[Path]:
    """Files that git knows or would add."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *table.files]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return [root / name for name in sorted(set(listed)) if (root / name).is_file()]


def main(arguments: list[str]) -> int:
    table = read_table()
    files = [Path(name).resolve() for name in arguments] or files_of(table)
    found = sorted(set(findings(files, table)), key=lambda each: (each.file, each.line))
    for each in found:
        print(each)
    if found:
        print(f"{len(found)} in {len(files)} files; exceptions need a reason in tools/{TABLE.name}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
