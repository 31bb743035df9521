import json
import sys
from pathlib import Path

from worker_package.predictor.nets import write
from worker_package.predictor.nets.network import Network

form, network, folder = sys.argv[1:]
print(json.dumps(write(form, Network.load(Path(network)), Path(folder))))
