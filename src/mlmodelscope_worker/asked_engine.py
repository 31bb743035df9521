"""A language model as traces see any model: what is run are questions, and its steps are prompts and tokens."""

from .predictor import NotSupported
from .predictor.language_model import DECODE, PREFILL


class AskedEngine(object):
    """The engine of a session, called with questions in the place of tensors."""

    def __init__(self, session):
        self._session = session
        self.profiler_stays = session.predictor.profiler_stays
        self.server = session.predictor.server

    def run(self, questions):
        return self._session.ask_engine(questions)

    def parts(self):
        """A call of many calls has none that could be timed apart."""
        return ()

    def profile_runs(self, questions, runs, between):
        """Steps of each of several runs."""
        found = []
        for _ in range(runs):
            between()
            found.append(self._session.predictor.profile_steps(lambda: self.run(questions)))
        return found

    def library_runs(self, questions, runs, between):
        raise NotSupported("what a language model's layers call cannot be seen here")


def marked(found, mark):
    """Mark when the first token of each text came, and each further one: side by side they come at the same time."""
    written = [each for _, each in found if getattr(each, "moments", ())]
    firsts = {each.moments[0] for each in written}
    for moment in sorted({moment for each in written for moment in each.moments}):
        mark(PREFILL if moment in firsts else DECODE, moment)
