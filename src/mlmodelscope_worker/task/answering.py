"""Question answering: the words that answer a question, empty where there is no answer."""

from ..output.boxes import Refused
from .reader import StepReader, task_reader
from .texts import text_of


@task_reader("question_answering")
class Answering(StepReader):
    """Reads `text` as the answer steps leave it, and `score` where there is one."""

    def answer_of(self, values, frame):
        return [], {"text": text_of(values), "score": _score_of(values.get("score"))}


def _score_of(value):
    if value is None:
        return None
    found = float(value)
    if found != found or found in (float("inf"), float("-inf")):
        raise Refused("the model answered with not-a-number")
    return found
