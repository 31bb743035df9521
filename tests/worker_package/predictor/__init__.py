try:
    import pytest
except ImportError:  # in a stack where only `nets` is wanted
    pass
else:
    pytest.register_assert_rewrite("worker_package.predictor.conformance")
