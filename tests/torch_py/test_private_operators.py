"""Private operators, which gradients call, refuse lists of lengths that do not fit."""

from __future__ import annotations

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_CALLS = {
    "_inverse_permute": [(torch.ones(2), [0, 0, 0, 0]), (torch.ones(2, 3), [1])],
    "_as_strided_backward": [
        (torch.ones(2), [2], [], 0, [2], [1], None),
        (torch.ones(2), [2], [1], 0, [2], [1, 1, 1], None),
        (torch.ones(2), [2], [1], -5, [2], [1], None),
        (torch.ones(2), [2], [1], 0, [2], [-1], None),
        (torch.ones(2), [2], [1], 0, [2], [1], -1),
    ],
    "_unfold_backward": [(torch.ones(2), [2, 2, 2], 2, 2, 1), (torch.ones(2, 2), [2], 0, 2, -1)],
    "_embedding_backward": [(torch.ones(2, 3), torch.zeros(2, dtype=torch.int64), [3], -1, False)],
    "_fft_r2c_backward": [
        (torch.ones(2, 3).cfloat(), [], 0, True, [2, 4]),
        (torch.ones(2, 3).cfloat(), [1], 0, True, [2]),
    ],
    "_fft_c2r_backward": [(torch.ones(2, 3), [], 0)],
}


@pytest.mark.parametrize(
    "name, arguments", [(name, arguments) for name, calls in _CALLS.items() for arguments in calls]
)
def test_lists_must_fit(name: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(RuntimeError, match="len|dim|>= 0|size|step"):
        getattr(torch._C._ops, name)(*arguments)
