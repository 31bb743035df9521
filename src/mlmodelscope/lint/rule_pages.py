"""Pages that explain rules: one at a time on the terminal, all of them in docs/lints.md."""

from __future__ import annotations

from mlmodelscope.lint.rule import Rule, all_rules

_HEAD = """# Lints

<!-- written by `mlmodelscope check --explain all` -->

What `mlmodelscope check` says about manifests. An *error* means that the manifest cannot be used, a *warning* that it
probably does something else than its author meant, an *info* that an evaluator may want to know it; those are counted
and shown with `--verbose`. `--fix` fixes what has only one meaning, `--diff` shows that first. `--select` and
`--ignore` take codes, beginnings of codes and names, such as `--ignore M03,no-license`.

| code | name | severity | meaning |
|---|---|---|---|
"""


def rule_page(rule: Rule) -> str:
    """One rule, as `--explain` shows it."""
    return f"## {rule.code} {rule.name}\n\n*{rule.severity}* · {rule.page}\n"


def lints_page() -> str:
    """All rules: docs/lints.md."""
    rules = all_rules()
    table = "".join(
        f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.severity} | {rule.summary} |\n"
        for rule in rules
    )
    return _HEAD + table + "\n" + "\n".join(rule_page(rule) for rule in rules)
