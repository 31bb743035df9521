"""`--stacks`: one command in several stacks, all of which are checked before one is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from mlmodelscope.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.plan.options import Options
    from mlmodelscope.preparation import DatasetSource
    from mlmodelscope.several_stacks import Results

Ran = TypeVar("Ran")
ONE_FAILED = 1
"""Exit code where a stack could not be built, or its run ended with an error."""


def sweep(
    stacks: str,
    run: Callable[[str], Ran],
    model: str,
    dataset: DatasetSource | None,
    options: Options,
    *,
    is_remote: bool = False,
    **conditions: Any,
) -> Results[Ran]:
    """Check all names, then run in each; a server's agents check by themselves what they have."""
    from mlmodelscope.several_stacks import check_each, names_in, run_each, stack_names

    if is_remote:
        names = names_in(stacks)
    else:
        names = stack_names(stacks, model, conditions["settings"])
        check_each(names, model, dataset, options, **conditions)
    return run_each(names, run)


def end_sweep(done: Results[Any]) -> int:
    return ONE_FAILED if done.failed else 0


def failures(failed: Mapping[str, MLModelScopeError]) -> list[dict[str, str | None]]:
    """For JSON."""
    return [{"stack": name, "message": error.message, "hint": error.hint} for name, error in failed.items()]


def show_failures(failed: Mapping[str, MLModelScopeError]) -> None:
    from rich.markup import escape

    for name, error in failed.items():
        console().print(f"[red]{escape(name)}[/red]: {escape(str(error))}", soft_wrap=True)
