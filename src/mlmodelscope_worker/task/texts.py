"""Tasks whose answers are texts: translation, summarization, speech recognition."""

from ..output.boxes import Refused
from .reader import StepReader, task_reader

MOST_CHARACTERS = 1000000


@task_reader("translation")
@task_reader("summarization")
@task_reader("speech_recognition")
class Texts(StepReader):
    """Reads `text` as the answer steps leave it, or as a model that answers in words gives it."""

    def answer_of(self, values, frame):
        return [], {"text": text_of(values)}


def text_of(values):
    """The one text of a sample."""
    if "text" not in values:
        raise Refused(
            "there is no text, only %s: an answer step must make one" % (", ".join(sorted(values)) or "nothing")
        )
    found = plain_text(values["text"])
    if len(found) > MOST_CHARACTERS:
        raise Refused("the model answered with %d characters; up to %d are kept" % (len(found), MOST_CHARACTERS))
    return found


def plain_text(value):
    """Python's own text of what frameworks give: bytes, arrays with one element, texts of numpy."""
    if getattr(value, "size", 1) != 1:
        raise Refused("a sample has %d texts, and one is due" % value.size)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused("the text is not UTF-8: %s" % error)
    if not isinstance(value, str):
        raise Refused("the model answered with %.60r, where a text is due" % (value,))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("the text is not valid Unicode: half a surrogate pair at character %d" % error.start)
    return str(value)
