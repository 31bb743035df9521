"""Inside a stack: what the worker's own predictor answers, beside the library's answers that were kept.

Takes a JSON list of {name, files, folder} on standard input; prints one of {difference, largest} or {error}.
"""

import json
import os
import sys

import numpy as np

from mlmodelscope_worker.predictor.pytorch import pytorch


def compared(item):
    given = np.load(os.path.join(item["folder"], "given.npy"))
    wanted = np.load(os.path.join(item["folder"], "answer.npy"))
    with pytorch(item["files"]) as predictor:
        predictor.check([given])
        answer = predictor.run([given])[0]
    if answer.shape != wanted.shape or not np.isfinite(wanted).all():
        return {"error": f"shape {answer.shape} instead of {wanted.shape}, or no numbers"}
    return {"difference": float(np.abs(answer - wanted).max()), "largest": float(np.abs(wanted).max())}


def main():
    results = []
    for item in json.load(sys.stdin):
        try:
            results.append(compared(item))
        except Exception as error:  # one that fails is one line of the table
            results.append({"error": f"{type(error).__name__}: {str(error)[:300]}"})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
