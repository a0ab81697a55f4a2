import pytest

import torch_py as torch


@pytest.fixture(autouse=True)
def strict():
    """Mistakes of the compiler are errors, and no test sees the code or the counters of another one."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(suppress_errors=False):
        yield
    torch._dynamo.reset()
