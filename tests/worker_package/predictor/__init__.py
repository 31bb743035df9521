import pytest

pytest.register_assert_rewrite("worker_package.predictor.conformance")
