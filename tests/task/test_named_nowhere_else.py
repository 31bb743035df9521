"""The measures of one task are named in its file: everything else asks the task, so that it works for any other."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
NAMES = re.compile(r"\btop[15](?![0-9a-zA-Z])")
OWN = "src/mlmodelscope/task/classification.py"
REASONS = {
    "the table that finds a measure's module without importing it": ["src/mlmodelscope/task/measure.py"],
    "old names of the API, for one minor version": [
        "src/mlmodelscope/record/headline.py",
        "src/mlmodelscope/server/handle/comparisons.py",
        "src/mlmodelscope/server/handle/reuse.py",
        "src/mlmodelscope/server/rest/comparison_answers.py",
        "src/mlmodelscope/server/rest/evaluation_answers.py",
        "src/mlmodelscope/server/rest/record_answers.py",
        "src/mlmodelscope/server/rpc/mlmodelscope.proto",
    ],
    "old dialects, whose authors wrote it": [
        "src/mlmodelscope/manifest/dialect/v1.py",
        "src/mlmodelscope/manifest/dialect/v1_claims.py",
        "src/mlmodelscope/manifest/dialect/v1_task.py",
    ],
    "records and databases of older versions": [
        "src/mlmodelscope/record/migrations/versions/0008_headlines.py",
        "src/mlmodelscope/record/upgrade.py",
    ],
    "what sources of published numbers call them": [
        "src/mlmodelscope/catalog/source/keras.py",
        "src/mlmodelscope/catalog/source/timm.py",
        "src/mlmodelscope/catalog/words.py",
    ],
    "an example in a help text, a docs page or an API description": [
        "src/mlmodelscope/__init__.py",
        "src/mlmodelscope/author/request.py",
        "src/mlmodelscope/catalog/search.py",
        "src/mlmodelscope/cli/init.py",
        "src/mlmodelscope/cli/replicate.py",
        "src/mlmodelscope/ledger/arguments.py",
        "src/mlmodelscope/lint/rules/claims.py",
        "src/mlmodelscope/manifest/schema/model.py",
        "src/mlmodelscope/server/rest/leaderboard_answers.py",
        "src/mlmodelscope/server/rest/replication_answers.py",
        "src/mlmodelscope/server/rest/sample_answers.py",
        "src/mlmodelscope/suggestion/wish.py",
    ],
    "written by a tool from the API": ["web/src/api/schema.d.ts"],
}
ALLOWED = {path for paths in REASONS.values() for path in paths}


def sources() -> list[Path]:
    """Texts of ours; what is built, tests of the pages and catalogs of published numbers aside."""
    kinds = {".py", ".proto", ".ts", ".tsx", ".html", ".jinja", ".js", ".css"}
    found = [path for place in ("src", "web/src") for path in (ROOT / place).rglob("*") if path.suffix in kinds]
    built = ROOT / "src" / "mlmodelscope" / "server"
    generated = (built / "docs", built / "pages", built / "rpc" / "generated")
    return [
        path
        for path in sorted(found)
        if not any(path.is_relative_to(each) for each in generated)
        and ".test." not in path.name
        and not path.name.endswith(("_pb2.py", "_pb2_grpc.py"))
    ]


def naming() -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in sources() if NAMES.search(path.read_text(encoding="utf-8"))}


def test_no_other_file_names_the_measures_of_classification() -> None:
    assert naming() - ALLOWED - {OWN} == set(), "ask the task, or add the file with its reason"


def test_the_list_of_exceptions_has_no_more_than_it_needs() -> None:
    assert ALLOWED - naming() == set(), "the file no longer names one"
