"""A training task: the stages on all of the data, with the progress that `run` reports."""

from ..functions import FunctionError, is_stream


def train(functions, context, data, report):
    """What the last stage returns."""
    context["report"] = report
    for stage in ("preprocess", "run", "postprocess"):
        if stage in functions:
            data = _stage(functions, stage, context, data, report)
    return list(data) if is_stream(data) else data


def _stage(functions, stage, context, data, report):
    answer = functions.call(stage, context, data)
    if not is_stream(answer):
        return answer
    items = functions.items(stage, answer)
    return _report_all(items, report) if stage == "run" else items


def _report_all(items, report):
    """A `run` that yields mappings reports its progress by them; what it returns is its result, or the last one."""
    last = None
    while True:
        try:
            last = next(items)
        except StopIteration as end:
            return last if end.value is None else end.value
        if isinstance(last, dict) and "progress" in last:
            values = dict(last)
            try:
                report(values.pop("progress"), **values)
            except (TypeError, ValueError) as error:
                raise FunctionError("run yielded a progress that is none: %s" % error)
