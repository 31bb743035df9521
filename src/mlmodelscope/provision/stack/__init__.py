"""Software stacks: the running interpreter, and environments that are built for what a manifest describes."""

from mlmodelscope.provision.stack.current import describe_current, worker_digest

__all__ = ["describe_current", "worker_digest"]
