import pytest

import torch_py as torch
from torch_py._dynamo import logs


@pytest.fixture(autouse=True)
def strict():
    """Mistakes of the compiler are errors, and no test sees the code or the counters of another one."""
    torch._dynamo.reset()
    with torch._dynamo.config.patch(suppress_errors=False):
        yield
    torch._dynamo.reset()


@pytest.fixture
def graph_breaks():
    """The reasons of the breaks that happen in a test."""
    found = []
    logs.observers.append(found.append)
    yield found
    logs.observers.remove(found.append)
