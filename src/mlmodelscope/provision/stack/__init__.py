"""Software stacks: the running interpreter, and environments that are built for what a manifest describes."""

from mlmodelscope.provision.stack.choose import choose_stack, recipe_of
from mlmodelscope.provision.stack.current import describe_current, worker_digest
from mlmodelscope.provision.stack.venv import Progress, Venv, VenvStore, digest_of

__all__ = [
    "Progress",
    "Venv",
    "VenvStore",
    "choose_stack",
    "describe_current",
    "digest_of",
    "recipe_of",
    "worker_digest",
]
