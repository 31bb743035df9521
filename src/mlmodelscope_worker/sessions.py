"""Which session a task needs."""

from .session import Session


def open_session(task):
    """The manifest's own functions, where it has any; the model alone, for tensors; the declared steps otherwise."""
    if task.get("plugins"):
        from .plugins import load_plugins

        load_plugins(task["plugins"])
    if task.get("tensors"):
        from .tensor_session import TensorSession

        return TensorSession(task)
    if task.get("functions"):
        from .function_session import FunctionSession

        return FunctionSession(task)
    if task.get("variants"):
        from .variants import VariantSession

        return VariantSession(task)
    return Session(task)
