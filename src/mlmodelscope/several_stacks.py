"""One request in several stacks: whether each can run it is decided before any of them is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, Unpack

from mlmodelscope.connection.resolve import with_folder
from mlmodelscope.errors import MLModelScopeError, StackError, UsageError
from mlmodelscope.manifest.catalog import find_model
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, ask, check_aspects
from mlmodelscope.provision.stack.fitting import fitting_stacks
from mlmodelscope.provision.trust import require_trust
from mlmodelscope.settings import Settings

ALL = "all"
"""In place of names: the running Python, and every known stack that is built and reads the model's file."""
Ran = TypeVar("Ran")


@dataclass(frozen=True)
class Results(Generic[Ran]):
    """What each stack came to, by its name as it was asked for."""

    finished: dict[str, Ran]
    failed: dict[str, MLModelScopeError]


def names_in(text: str) -> list[str]:
    """Comma-separated names, each once, in their order."""
    found = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not found:
        raise UsageError(
            "--stacks names no stack",
            hint="name two or more, such as --stacks current,onnxruntime-1.17; mlmodelscope stacks lists them",
        )
    return found


def stack_names(text: str, model: ModelSource, settings: Settings) -> list[str]:
    """The same, with `all` spelled out."""
    named = names_in(text)
    fitting = list(fitting_stacks(find_model(model), settings)) if ALL in named else []
    found = list(dict.fromkeys(each for name in named for each in (fitting if name == ALL else (name,))))
    if not found:
        raise UsageError(
            f"no stack that is built reads the model {model}",
            hint="mlmodelscope stacks lists stacks, mlmodelscope stacks build NAME builds one",
        )
    return found


def check_each(
    names: Sequence[str],
    model: ModelSource,
    dataset: DatasetSource | None = None,
    options: Options | None = None,
    **conditions: Unpack[Conditions],
) -> None:
    """Refuse all names that cannot run the model in one message; what each lacks, and a hint."""
    refused: list[tuple[str, MLModelScopeError]] = []
    for name in names:
        try:
            in_stack: Conditions = {**conditions, "software": name}
            asked = ask(model, dataset, options, **in_stack)
            aspects = asked.aspects
            require_trust(aspects.manifests, asked.settings, trust=asked.trust)
            with_folder(aspects.dataset, asked.settings)
            check_aspects(aspects, asked.options, trust=asked.trust)
        except MLModelScopeError as error:
            refused.append((name, error))
    if not refused:
        return
    messages = {error.message for _, error in refused}
    if len(refused) == len(names) and len(messages) == 1:
        raise refused[0][1]  # nothing that is about a stack
    lines = [f"- {name}: {error.message}" for name, error in refused]
    hints = dict.fromkeys(error.hint for _, error in refused if error.hint)
    kept = [name for name in names if name not in dict(refused)]
    without = f"without them: --stacks {','.join(kept)}" if kept else ""
    which = "1 stack" if len(refused) == 1 else f"{len(refused)} stacks"
    raise UsageError(
        f"{which} of {len(names)} cannot run this, and nothing was built\n" + "\n".join(lines),
        hint="; ".join((*hints, *filter(None, (without,)))) or None,
    )


def run_each(
    names: Sequence[str],
    run: Callable[[str], Ran],
    told: Callable[[str, MLModelScopeError], None] = lambda name, error: None,
) -> Results[Ran]:
    """Run in each; one that fails where it could not be foreseen does not keep the others from running."""
    finished: dict[str, Ran] = {}
    failed: dict[str, MLModelScopeError] = {}
    for name in names:
        try:
            finished[name] = run(name)
        except MLModelScopeError as error:
            failed[name] = error
            told(name, error)
    if not finished:
        if len(failed) == 1:
            raise next(iter(failed.values()))
        lines = [f"- {name}: {error.message}" for name, error in failed.items()]
        raise StackError("no stack ran the model\n" + "\n".join(lines))
    return Results(finished, failed)
