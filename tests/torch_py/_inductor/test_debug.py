"""`torch._inductor.debug.show` prints every stage."""

from __future__ import annotations

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py


def scaled(x, y):
    total = x + y
    return torch.relu(total) * 2


def test_all_stages_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from torch_py._inductor.debug import show

    show(scaled, torch.ones(4), torch.ones(4))
    text = capsys.readouterr().out
    titles = ["operator graph", "loop graph", "nests", "kernels", "program"]
    assert [text.index(f"=== {title} ===") for title in titles] == sorted(
        text.index(f"=== {title} ===") for title in titles
    )
    assert "aten.relu" in text and "at::vec::relu" in text and 'extern "C"' in text


def test_backward_is_shown_for_arguments_that_require_gradients(capsys: pytest.CaptureFixture[str]) -> None:
    from torch_py._inductor.debug import show

    show(scaled, torch.ones(4, requires_grad=True), torch.ones(4))
    text = capsys.readouterr().out
    assert "forward" in text and "backward" in text and text.count("=== kernels ===") == 2


def test_an_unchanged_function_has_no_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    from torch_py._inductor.debug import show

    show(lambda x: x @ x, torch.ones(4, 4))
    assert "every operator is called" in capsys.readouterr().out
