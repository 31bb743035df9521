"""One run of one scenario, from the host's request to what it gets back."""

import gc

from ...clock import nanoseconds
from ...messages import Loaded, LoadgenLoaded
from ...predictor import ModelError
from .all_at_once import offline
from .closed import multi_stream, single_stream
from .inputs import Inputs
from .open_loop import queue_depths, server
from .questions import Questions
from .schedule import arrivals
from .usage import peak_memory_bytes


class Load(object):
    """Runs scenarios on an open session; what the queries are made of is kept from one run to the next."""

    def __init__(self, session, clock=nanoseconds):
        self._session = session
        self._clock = clock
        self._inputs = None
        self._made_of = None

    def __call__(self, asked, buffers):
        """(Loaded, buffers): when each query was due, begun and answered, and for a server how many were waiting."""
        inputs = self._ready(asked, buffers)
        inputs.begin()
        if asked.driven is not None:
            from .loadgen import drive

            return LoadgenLoaded(inputs.notes, drive(inputs, self._session, asked)), ()
        lanes = inputs.lanes(asked.lanes, asked.scenario)
        collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            warm_up_ns, kept = self._run(inputs.numbered, lanes, asked)
        finally:
            if collecting:
                gc.enable()
        told, notes = inputs.told(len(kept), asked.calls_per_query if asked.scenario == "multi-stream" else 1)
        answer = Loaded(
            queries=len(kept),
            unanswered=kept.unanswered,
            batch_size=self._session.batch_size,
            lanes=lanes if asked.scenario in ("server", "offline") else 1,
            end_to_end=inputs.end_to_end,
            warm_up_ns=warm_up_ns,
            cpu_ns=kept.cpu_ns,
            peak_memory_bytes=peak_memory_bytes(),
            notes=inputs.notes + notes,
        )
        depths = queue_depths(kept.due_ns, kept.started_ns) if asked.scenario == "server" else b""
        return answer, (kept.due_ns, kept.started_ns, kept.ended_ns, depths) + tuple(told)

    def _ready(self, asked, buffers):
        made_of = (asked.samples, asked.end_to_end, asked.random)
        if self._inputs is None or made_of != self._made_of:
            kind = Questions if hasattr(self._session, "ask_engine") else Inputs
            self._inputs = kind(self._session, asked.samples, buffers, made_of[1], made_of[2])
            self._made_of = made_of
        return self._inputs

    def _run(self, calls, lanes, asked):
        clock, scenario = self._clock, asked.scenario
        queries, budget_ns = asked.queries, int(asked.budget_s * 1e9)
        rounds = asked.warm_up_runs

        def warm_up():
            for turn in range(rounds):
                call, inputs = calls[turn % len(calls)]
                call(inputs)

        if scenario == "server":
            due = arrivals(asked.rate, queries, asked.seed)
            return [], server(calls, lanes, warm_up, due, int(asked.patience_s * 1e9), clock)
        if scenario == "offline":
            return [], offline(calls, lanes, warm_up, queries, budget_ns, clock)
        first = []
        for turn in range(rounds):
            call, inputs = calls[turn % len(calls)]
            start = clock()
            call(inputs)
            first.append(clock() - start)
        if scenario == "single-stream":
            return first, single_stream(calls, queries, budget_ns, clock)
        if scenario == "multi-stream":
            return first, multi_stream(calls, queries, asked.calls_per_query, budget_ns, clock)
        raise ModelError("the worker does not know the scenario `%s`" % scenario)
