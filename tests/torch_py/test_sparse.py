"""Functions of sparse and quantized tensors, called with dense tensors: results and errors are PyTorch's."""

from __future__ import annotations

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

CALLS = {
    "coalesce": lambda t: t.ones(2).coalesce(),
    "is_coalesced": lambda t: t.ones(2).is_coalesced(),
    "values": lambda t: t.ones(2).values(),
    "crow_indices": lambda t: t.ones(2).crow_indices(),
    "dequantize": lambda t: t.ones(2).dequantize().tolist(),
    "q_scale": lambda t: t.ones(2).q_scale(),
    "sparse.mm": lambda t: t.sparse.mm(t.ones(2, 3), t.ones(3, 2)).tolist(),
    "sparse.addmm": lambda t: t.sparse.addmm(t.ones(2, 2), t.ones(2, 3), t.ones(3, 2), alpha=2).tolist(),
    "sparse.sum": lambda t: t.sparse.sum(t.ones(2)),
    "sparse.softmax": lambda t: t.sparse.softmax(t.ones(2), 0),
    "rows": lambda t: t._convert_indices_from_coo_to_csr(t.tensor([0, 0, 2, 3]), 5).tolist(),
    "rows back": lambda t: t._convert_indices_from_csr_to_coo(
        t.tensor([0, 2, 2, 3]), t.tensor([1, 0, 2])
    ).tolist(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_with_dense_tensors_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)
