from mlmodelscope.evaluation import *  # noqa: F403
from mlmodelscope.evaluation import Prediction, cut_batches  # noqa: F401
