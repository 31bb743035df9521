"""The four scenarios of MLPerf, driven by MLPerf's own LoadGen: the model is called as in our own, the rest is theirs.

It must be installed in the stack: `pip install mlcommons-loadgen`.
"""

import json
import os
import queue
import shutil
import tempfile
import threading

from ...predictor import ModelError

_SCENARIOS = {
    "single-stream": "SingleStream",
    "multi-stream": "MultiStream",
    "server": "Server",
    "offline": "Offline",
}
_KEPT = ("result_", "effective_", "early_stopping_", "loadgen_version")


def drive(inputs, session, asked):
    """What LoadGen says of a run, by its own names: everything in its detailed log that is a result or a setting."""
    try:
        import mlperf_loadgen as loadgen
    except ImportError as error:
        raise ModelError("this stack cannot use LoadGen (%s); install it with: pip install mlcommons-loadgen" % error)
    wanted = asked.driven
    lanes = max(1, asked.lanes) if session.predictor.concurrent else 1
    direct = wanted in ("single-stream", "multi-stream") or (wanted == "offline" and lanes == 1)
    system = System(loadgen, inputs.calls, session.batch_size, 0 if direct else lanes)
    count = max(1, len(inputs.calls) * session.batch_size)
    folder = tempfile.mkdtemp(prefix="loadgen-")
    library = under_test = None
    try:
        library = loadgen.ConstructQSL(count, count, _nothing, _nothing)
        lean = wanted == "single-stream" and session.batch_size == 1
        under_test = loadgen.ConstructSUT(system.issue_one if lean else system.issue, _flush)
        loadgen.StartTestWithLogSettings(
            under_test, library, _settings(loadgen, asked), _log_settings(loadgen, folder), ""
        )
        if system.failure is not None:
            raise system.failure
        with open(os.path.join(folder, "mlperf_log_detail.txt")) as file:
            return parse_log(file.read())
    finally:
        system.finish()
        if under_test is not None:
            loadgen.DestroySUT(under_test)
        if library is not None:
            loadgen.DestroyQSL(library)
        shutil.rmtree(folder, ignore_errors=True)


class System(object):
    """What LoadGen tests: samples in, `complete` out. Lanes are for scenarios in which issuing must not wait."""

    def __init__(self, loadgen, calls, batch_size, lanes):
        self._complete = loadgen.QuerySamplesComplete
        self._response = loadgen.QuerySampleResponse
        self._calls = calls
        self._batch_size = batch_size
        self._turn = 0
        self._queue = queue.Queue()
        self.failure = None
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(lanes)]
        for thread in self._threads:
            thread.start()

    def issue_one(self, samples):
        """One sample in one call: as little of ours as can be, since LoadGen counts it as the model's."""
        call, inputs = self._calls[self._turn % len(self._calls)]
        self._turn += 1
        try:
            call(inputs)
        except BaseException as error:
            self.failure = self.failure or error
        self._complete([self._response(samples[0].id, 0, 0)])

    def issue(self, samples):
        size = self._batch_size
        for start in range(0, len(samples), size):
            identities = [sample.id for sample in samples[start : start + size]]
            if self._threads:
                self._queue.put((self._turn, identities))
            else:
                self._answer(self._turn, identities)
            self._turn += 1

    def _work(self):
        for turn, identities in iter(self._queue.get, None):
            self._answer(turn, identities)

    def _answer(self, turn, identities):
        try:
            call, inputs = self._calls[turn % len(self._calls)]
            call(inputs)
        except BaseException as error:  # LoadGen would wait for ever for a query without an answer
            self.failure = self.failure or error
        self._complete([self._response(identity, 0, 0) for identity in identities])

    def finish(self):
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()


def _settings(loadgen, asked):
    """Durations and seeds as asked for; what LoadGen must be told beforehand was measured by whoever asks."""
    wanted = asked.driven
    made = loadgen.TestSettings()
    made.scenario = getattr(loadgen.TestScenario, _SCENARIOS[wanted])
    made.mode = loadgen.TestMode.PerformanceOnly
    made.min_duration_ms = made.max_duration_ms = max(1, int(asked.budget_s * 1000))
    made.min_query_count = asked.queries
    made.schedule_rng_seed = made.sample_index_rng_seed = made.qsl_rng_seed = asked.seed
    expected_ns = max(1, int(asked.expected_ns))
    if wanted == "single-stream":
        made.single_stream_expected_latency_ns = expected_ns
    elif wanted == "multi-stream":
        made.multi_stream_expected_latency_ns = expected_ns
        made.multi_stream_samples_per_query = asked.samples_per_query
    elif wanted == "server":
        made.server_target_qps = asked.rate
        made.server_target_latency_ns = max(1, int(asked.bound_s * 1e9))
    else:
        made.offline_expected_qps = asked.rate
    return made


def _log_settings(loadgen, folder):
    output = loadgen.LogOutputSettings()
    output.outdir = folder
    output.copy_summary_to_stdout = False
    made = loadgen.LogSettings()
    made.enable_trace = False
    made.log_output = output
    return made


def parse_log(text):
    """{name: value} of the results in LoadGen's detailed log, a line of JSON for each."""
    found = {}
    for line in text.splitlines():
        start = line.find("{")
        if start < 0:
            continue
        try:
            entry = json.loads(line[start:])
        except ValueError:
            continue
        name = entry.get("key", "")
        if name.startswith(_KEPT):
            found[name] = entry.get("value")
    return found


def _nothing(indices):
    pass


def _flush():
    pass
