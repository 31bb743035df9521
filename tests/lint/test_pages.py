"""Every rule has its page, and what the page calls wrong and right is."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.rule import Rule, all_rules, rule
from mlmodelscope.lint.rule_pages import lints_page
from reproduction.reproduction_world import MANIFEST as REPRODUCTION

from .conftest import MODEL
from .samples import DATASET, DLSPEC_HARDWARE, SOFTWARE, V1B

PAGE = Path(__file__).parent.parent.parent / "docs" / "lints.md"
NEEDS_A_FILE = ("M071", "M072", "M073", "M074", "M075", "M076")
OLD = ("M010", "M011", "M012", "M013")


def test_the_page_in_the_docs_is_the_current_one() -> None:
    assert PAGE.read_text() == lints_page(), "run: mlmodelscope check --explain all > docs/lints.md"


@pytest.mark.parametrize("each", all_rules(), ids=lambda each: each.code)
def test_every_rule_has_a_section_with_two_examples(each: Rule) -> None:
    assert f"\n## {each.code} {each.name}\n" in PAGE.read_text()
    assert each.summary.endswith(".") and len(each.summary) < 100
    assert len(examples(each)) == 2


def examples(each: Rule) -> list[str]:
    return [textwrap.dedent(text) for text in re.findall(r"(?:Wrong|Right):\n\n((?:    .*\n?|\n)+)", each.page)]


def whole(each: Rule, fragment: str) -> str:
    """A fragment of a page as a part of a manifest that is otherwise right."""
    if each.code == "M000":
        return fragment
    if each.code == "M002":  # what stands twice in a fragment would be there once when it is written again
        return V1B[: V1B.index("\nmodel:") + 1] + fragment
    base: dict[str, Any] = yaml.safe_load(yaml.safe_dump(MODEL))
    if each.code in OLD:
        base = yaml.safe_load(V1B.replace("float32s", "float32").replace("probailities", "probabilities"))
        base.pop("hidden")
    elif each.kinds == ("dataset",):
        base = yaml.safe_load(DATASET)
    elif each.kinds == ("software",):
        base = yaml.safe_load(SOFTWARE)
    elif each.kinds == ("hardware",):
        base = yaml.safe_load(DLSPEC_HARDWARE)
    elif each.kinds == ("reproduction",):
        base = yaml.safe_load(REPRODUCTION)
        base.pop("original")
    part = yaml.safe_load(fragment)
    if "processing" in part:
        base["inputs"][0]["processing"] = part["processing"]
    elif "graph_checksum" in part:
        base["source"].update(part)
    else:
        # What the fragment is about is not there from elsewhere.
        for key in ("license", "references"):
            if each.code in ("M090", "M091"):
                base.pop(key, None)
        if "run" not in part and "preprocess" in part:
            base["preprocess"] = part["preprocess"]
        base.update(part)
    if each.code == "M061":
        base["training_dataset"] = {"name": "ImageNet"}
    if each.code == "M030":
        return re.sub(r"1\.1$", "1.10", yaml.safe_dump(base, sort_keys=False), flags=re.MULTILINE)
    return yaml.safe_dump(base, sort_keys=False)


@pytest.mark.parametrize("each", [each for each in all_rules() if each.code not in NEEDS_A_FILE], ids=lambda r: r.code)
def test_the_examples_of_a_page_are_what_it_says(each: Rule, tmp_path: Path) -> None:
    wrong, right = examples(each)
    found = check_text(whole(each, wrong), "wrong.yml", tmp_path)[1]
    assert each.code in {finding.code for finding in found}
    subject, found = check_text(whole(each, right), "right.yml", tmp_path)
    mine = [finding for finding in found if finding.code == each.code]
    if each.code == "M013":  # an old dialect always leaves something out
        assert not any("layout" in finding.message for finding in mine)
    elif each.code == "M112":  # commands are always told
        assert "curl" not in mine[0].message
    elif each.code == "M000":
        assert not subject.unreadable
    else:
        assert mine == []
        assert subject.manifest is not None, subject.problems


def test_a_code_is_taken_once_and_well_formed() -> None:
    with pytest.raises(ValueError, match="taken by `swapped-images`"):
        rule("M020", "mine", "warning")(lambda subject: iter(()))
    with pytest.raises(ValueError, match="not a code"):
        rule("swap", "mine", "warning")(lambda subject: iter(()))
