"""Which session a task needs."""

from .session import Session


def open_session(task):
    """A training's parts; the manifest's own functions, where it has any; the model alone, for tensors; answers that
    were recorded; a language model; or else the declared steps."""
    if task.plugins:
        from .plugins import load_plugins

        load_plugins(task.plugins)
    if task.tensors:
        from .tensor_session import TensorSession

        return TensorSession(task)
    if task.training is not None:
        from .training.session import TrainingSession

        return TrainingSession(task)
    if task.predictor.name == "recorded":
        from .recorded_session import RecordedSession

        return RecordedSession(task)
    if task.inputs and task.inputs[0]["part"] == "document" and not task.functions:
        from .language_session import LanguageSession

        return LanguageSession(task)
    if task.functions:
        from .function_session import FunctionSession

        return FunctionSession(task)
    if task.variants:
        from .variants import VariantSession

        return VariantSession(task)
    return Session(task)
