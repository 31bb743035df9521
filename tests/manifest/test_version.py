"""Versions are text, and constraints are npm's."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.errors import VersionError
from mlmodelscope.manifest.version import Constraint, Version


@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        ("^1.x", ["1.0", "1.13.2"], ["2.0.0", "0.9"]),
        ("~1.2", ["1.2.0", "1.2.9"], ["1.3.0", "1.1"]),
        (">=1.10.x <=1.13.0", ["1.10", "1.10.5", "1.13.0"], ["1.9.9", "1.13.1", "1.13.0-rc2"]),
        (">=1.10.x and <=1.13.0", ["1.12"], ["1.14"]),
        ("≥1.10.x and ≤1.13.0", ["1.12"], ["1.14"]),
        (">= 1.10, < 2", ["1.31.1"], ["2.0"]),
        ("1.12", ["1.12", "1.12.4"], ["1.1.2", "1.13"]),
        ("1.12.0", ["1.12"], ["1.12.1"]),
        ("==1.2.3", ["1.2.3"], ["1.2.4"]),
        ("*", ["0.0.1", "9.9.9"], []),
        ("^1.2 or ^3", ["1.5", "3.1"], ["2.0"]),
    ],
)
def test_a_constraint_admits_what_it_says(constraint: str, inside: list[str], outside: list[str]) -> None:
    rule = Constraint(constraint)
    assert all(rule.matches(Version(text)) for text in inside)
    assert not any(rule.matches(Version(text)) for text in outside)


def test_the_release_candidate_of_the_paper_counts_when_asked() -> None:
    assert Constraint(">=1.10.x <=1.13.0").matches(Version("1.13.0-rc2"), allow_prerelease=True)


def test_one_point_ten_is_not_one_point_one() -> None:
    assert Version("1.10") != Version("1.1")
    assert Version("1.10") > Version("1.9")
    assert str(Version("1.10")) == "1.10"


def test_versions_of_python_packages_are_understood() -> None:
    ordered = ["1.13.0rc2", "1.13.0", "2.7.post2", "2.13.0+cpu", "5.0.0.9", "5.0.0.93"]
    assert sorted(map(Version, reversed(ordered))) == [Version(text) for text in ordered]


@pytest.mark.parametrize("text", ["", "banana", "1..2", "-1", "1.2.x", "^1", "1" * 200])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(VersionError):
        Version(text)


@given(st.text(max_size=30))
def test_no_text_breaks_the_parsers(text: str) -> None:
    for parser in (Version, Constraint):
        with contextlib.suppress(VersionError):
            parser(text)
