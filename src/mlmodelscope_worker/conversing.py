"""A text that somebody reads while it is written, and may stop: what is told of it, piece by piece."""

from .pieces import REPLACED, clean


class Told(object):
    """Tells what is new of a text that grows. A piece that may still change is held back: half a character, or the
    beginning of a text that would end the answer."""

    def __init__(self, say, stops, is_stopped):
        self._say, self._stops, self._is_stopped = say, [each for each in stops if each], is_stopped
        self._sent = ""
        self.was_stopped = False

    def __call__(self, text):
        """Whether the text is over."""
        ends = [place for place in (text.find(each) for each in self._stops) if place >= 0]
        self._tell(text[: min(ends)] if ends else self._settled(text))
        self.was_stopped = self.was_stopped or self._is_stopped()
        return bool(ends) or self.was_stopped

    def _settled(self, text):
        end = len(text)
        while end and text[end - 1] == REPLACED:
            end -= 1
        for stop in self._stops:
            for size in range(min(len(stop) - 1, end), 0, -1):
                if text.endswith(stop[:size], 0, end):
                    end -= size
                    break
        return text[:end]

    def _tell(self, text):
        if text != self._sent and text.startswith(self._sent):
            self._say(clean(text[len(self._sent) :]))
            self._sent = text
