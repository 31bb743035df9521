"""Software stacks: the running interpreter, and environments that are built for what a manifest describes."""

from mlmodelscope.provision.stack.choose import build_image, build_stack, choose_stack, recipe_of
from mlmodelscope.provision.stack.current import CurrentStack, describe_current, worker_digest
from mlmodelscope.provision.stack.provisioner import Launch, Needs, Progress, Runnable
from mlmodelscope.provision.stack.store import Built, StackStore, digest_of

__all__ = [
    "Built",
    "CurrentStack",
    "Launch",
    "Needs",
    "Progress",
    "Runnable",
    "StackStore",
    "build_image",
    "build_stack",
    "choose_stack",
    "describe_current",
    "digest_of",
    "recipe_of",
    "worker_digest",
]
