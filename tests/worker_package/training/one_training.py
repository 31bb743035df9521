"""Run inside a framework's own Python: a training, killed by itself after so many steps where a number is given.

Arguments: the folder of the worker's package, a task as JSON, the files as JSON, a folder, and the number. Prints what
it came to as JSON. Nothing of the host is imported.
"""

import hashlib
import json
import os
import signal
import sys


def main(source, task, files, folder, steps):
    sys.path.insert(0, source)
    from mlmodelscope_worker.messages import PredictorTask, Task
    from mlmodelscope_worker.training.session import TrainingSession

    told = json.loads(task)
    session = TrainingSession(Task(PredictorTask(None, {}, {}), outputs=[], answer={}, batch_size=1, **told))
    os.makedirs(folder, exist_ok=True)
    points = []
    loop = session.loop(json.loads(files), points.append, folder)
    if int(steps):
        kill_after(loop, int(steps))
    metrics, facts = loop.run()
    with open(os.path.join(folder, "weights.npz"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    curve = [point["metrics"] for point in points]
    print(json.dumps({"weights": digest, "metrics": metrics, "curve": curve, "resumed": facts["resumed"]}))


def kill_after(loop, steps):
    made, step = [], loop.train

    def train(*batch):
        if len(made) >= steps:
            os.kill(os.getpid(), signal.SIGKILL)
        made.append(1)
        step(*batch)

    loop.train = train


if __name__ == "__main__":
    main(*sys.argv[1:])
