"""torch.nn.parallel with a single device."""

from __future__ import annotations

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.outcomes import outcome

CALLS = {
    "scatter": lambda t: t.nn.parallel.scatter(t.ones(4), ["cpu"]),
    "gather": lambda t: t.nn.parallel.gather([t.ones(2)], "cpu"),
    "parallel_apply": lambda t: t.nn.parallel.parallel_apply([t.nn.Identity()], []),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_parallel_functions_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@only_torch_py
def test_data_parallel_runs_the_module():
    inner = torch.nn.Linear(2, 1)
    model = torch.nn.DataParallel(inner)
    assert torch.equal(model(torch.ones(1, 2)), inner(torch.ones(1, 2))) and list(model.state_dict()) == [
        "module.weight",
        "module.bias",
    ]
    with pytest.raises(RuntimeError, match="device_ids"):
        torch.nn.DataParallel(inner, device_ids=[0])
