"""Every operator on CUDA agrees with the CPU: values, forms, gradients, errors.

Calls are made in a process of their own: host code that reads the memory of a device ends it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

import pytest

from tests.ops.isolated import Isolated
from tests.ops.operators import Operator, enrolled
from tests.subject import WITH_PEER

pytestmark = [
    pytest.mark.skipif(WITH_PEER, reason="compares our devices"),
]

_SAMPLES = int(os.environ.get("CUDA_SAMPLES", "1000"))  # of each operator and dtype, at most
# 2/5: the second of five parts of the operators.
_PART, _PARTS = map(int, os.environ.get("CUDA_SHARE", "1/1").split("/"))


def _takes_part(operator: Operator) -> bool:
    if operator.base_name == "from_file":  # files are mapped into the host's memory
        return False
    return zlib.crc32(str(operator).encode()) % _PARTS == _PART - 1


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    process = Isolated()
    yield process
    process.close()


@enrolled(_takes_part)
def test_cuda_agrees_with_cpu(operator: Operator, isolated: Isolated):
    problems = isolated.problems("on_cuda.problems_of", str(operator), _SAMPLES)
    assert not problems, "\n".join(problems)
