"""Words that people read: a forbidden phrase is found where it is read, and nowhere else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def words() -> ModuleType:
    place = ROOT / "tools" / "check_words.py"
    made = importlib.util.spec_from_file_location("check_words", place)
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    sys.modules["check_words"] = module  # where dataclasses look for it
    made.loader.exec_module(module)
    return module


def found(words: ModuleType, root: Path, name: str, text: str) -> list[tuple[int, str]]:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return [(each.line, each.found) for each in words.findings([path], words.read_table(), root)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("src/a.py", 'x = 1\nraise E("the files are not\\n"\n  "at hand")\n', [(3, "at hand")]),
        ("src/a.py", "# mended\nmended = told['mended']\n", []),
        ("src/a.py", 'help = "See `not said`"\n', []),
        ("docs/a.md", "Fine.\n\nIt is not\nsaid.\n", [(3, "not said")]),
        ("docs/a.md", "```\nlicence: MIT\n```\n`colour` and [this](colours.md)\n", []),
        ("docs/a.md", "The colour is normalised.\n", [(1, "colour"), (1, "normalis")]),
        ("web/src/a.tsx", "// mended\nconst colour = 1;\n<p>\n  All was mended.\n</p>;\n", [(4, "mended")]),
        ("web/src/a.tsx", '<Fact name="Licence">{said.licence}</Fact>;\n', [(1, "Licence")]),
        ("CHANGELOG.md", "# C\n\n## Unreleased\n\n- At hand.\n\n## 0.1\n\n- At hand.\n", [(5, "At hand")]),
    ],
)
def test_a_forbidden_phrase_is_reported_where_people_read(
    words: ModuleType, tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    assert found(words, tmp_path, name, text) == expected


def test_every_exception_has_a_reason(words: ModuleType, tmp_path: Path) -> None:
    text = words.TABLE.read_text(encoding="utf-8")
    table = tmp_path / "words.toml"
    table.write_text(text + '\n[[exception]]\nfiles = ["src/*"]\nwords = ["mend"]\nreason = " "\n', encoding="utf-8")
    with pytest.raises(SystemExit, match="needs a reason"):
        words.read_table(table)
