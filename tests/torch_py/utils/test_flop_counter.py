"""FlopCounterMode: counts and tables, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

flop_counter = __import__(f"{torch.__name__}.utils.flop_counter", fromlist=["x"])


F = torch.nn.functional


def programs(library: Any) -> dict[str, Any]:
    nn = library.nn
    x = library.ones(2, 3, 4)

    return {
        "mlp": lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))(x[0]).sum().backward(),
        "conv": lambda: nn.Conv2d(3, 4, 3)(library.ones(2, 3, 8, 8)).sum().backward(),
        "transposed": lambda: (
            nn.ConvTranspose2d(4, 6, 3, groups=2)(library.ones(2, 4, 8, 8, requires_grad=True))
            .sum()
            .backward()
        ),
        "grouped 1-d": lambda: (
            nn.Conv1d(4, 6, 3, groups=2)(library.ones(2, 4, 8, requires_grad=True)).sum().backward()
        ),
        "attention": lambda: nn.MultiheadAttention(8, 2)(*[library.ones(5, 2, 8)] * 3)[0].sum().backward(),
        "batches": lambda: x @ library.ones(2, 4, 6),
        "broadcast": lambda: x @ library.ones(4, 6),
        "vector": lambda: x[0] @ library.ones(4),
        "addmm": lambda: library.addmm(library.ones(3, 5), x[0], library.ones(4, 5)),
        "one sample": lambda: nn.Linear(4, 5)(x[0, 0]),
        "no bias": lambda: nn.Linear(4, 5, bias=False)(x),
    }


def counts(module: Any, program: Any) -> Any:
    with module.FlopCounterMode(display=False) as counter:
        program()
    return {
        name: {str(operator): flops for operator, flops in found.items()}
        for name, found in counter.get_flop_counts().items()
    }


@only_torch_py
@pytest.mark.parametrize("name", list(programs(torch)) if not WITH_PEER else [])
def test_counts_are_those_of_pytorch(name: str) -> None:
    peer = pytest.importorskip("torch")
    theirs = __import__("torch.utils.flop_counter", fromlist=["x"])
    assert counts(flop_counter, programs(torch)[name]) == counts(theirs, programs(peer)[name])


def test_formulas_of_programs_and_nothing_outside() -> None:
    model = torch.nn.Linear(4, 5)
    with flop_counter.FlopCounterMode(display=False) as counter:
        y = model(torch.ones(3, 4))
    assert counter.get_total_flops() == 120
    y.sum().backward()
    torch.ones(2, 2) @ torch.ones(2, 2)
    assert counter.get_total_flops() == 120


@only_torch_py
def test_attention_and_the_table(capsys: Any) -> None:
    q = torch.ones(2, 3, 5, 7, requires_grad=True)
    with flop_counter.FlopCounterMode() as counter:
        F.scaled_dot_product_attention(q, q, q).sum().backward()
    products = 2 * 6 * 5 * 5 * 7
    assert counter.get_total_flops() == 2 * products + 5 * products
    assert "aten.scaled_dot_product_attention" in capsys.readouterr().out
