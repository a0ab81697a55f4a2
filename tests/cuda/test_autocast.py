"""torch.autocast("cuda"): the dtype in which each operator runs.

The lists are those of PyTorch's documentation of automatic mixed precision. They differ from the CPU's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

F = torch.nn.functional
HALF, FLOAT = torch.float16, torch.float32


def values(*shape: int, dtype: Any = FLOAT) -> Any:
    """Numbers in (0, 1)."""
    return torch.linspace(0.1, 0.9, max(1, torch.Size(shape).numel())).reshape(shape).to("cuda", dtype)


LOWER: dict[str, Callable[[Any], Any]] = {
    "__matmul__": lambda x: x @ x,
    "addbmm": lambda x: torch.addbmm(x, x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "addmv": lambda x: torch.addmv(x[0], x, x[0]),
    "addr": lambda x: torch.addr(x, x[0], x[0]),
    "baddbmm": lambda x: torch.baddbmm(x[None], x[None], x[None]),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "chain_matmul": lambda x: torch.chain_matmul(x, x, x),
    "multi_dot": lambda x: torch.linalg.multi_dot([x, x, x]),
    "conv1d": lambda x: F.conv1d(x[None], x[None]),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None]),
    "conv2d, same": lambda x: F.conv2d(x[None, None], x[None, None], padding="same"),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x[None, None], x[None, None]),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, x),
    "linear": lambda x: F.linear(x, x, x[0]),
    "mm": lambda x: torch.mm(x, x),
    "mv": lambda x: torch.mv(x, x[0]),
    "prelu": lambda x: F.prelu(x, x[0, :1]),
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "GRUCell": lambda x: torch.nn.GRUCell(4, 3, device="cuda")(x),
    "LSTMCell": lambda x: torch.nn.LSTMCell(4, 3, device="cuda")(x)[0],
    "RNN": lambda x: torch.nn.RNN(4, 3, device="cuda")(x)[0],
    "GRU": lambda x: torch.nn.GRU(4, 3, device="cuda")(x)[0],
    "LSTM": lambda x: torch.nn.LSTM(4, 3, device="cuda")(x)[1][1],
    "RNNCell": lambda x: torch.nn.RNNCell(4, 3, device="cuda")(x),
}

WIDER: dict[str, Callable[[Any], Any]] = {
    "__pow__": lambda x: x**2,
    "__rpow__": lambda x: 2**x,
    "pow": lambda x: torch.pow(x, x),
    "square": torch.square,
    "acos": torch.acos,
    "asin": torch.asin,
    "cosh": torch.cosh,
    "sinh": torch.sinh,
    "tan": torch.tan,
    "erfinv": torch.erfinv,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": torch.log,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log2": torch.log2,
    "reciprocal": torch.reciprocal,
    "rsqrt": torch.rsqrt,
    "softplus": F.softplus,
    "cumprod": lambda x: x.cumprod(0),
    "cumsum": lambda x: x.cumsum(0),
    "prod": torch.prod,
    "prod, dim": lambda x: x.prod(1),
    "sum": torch.sum,
    "sum, dim": lambda x: x.sum(1),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "softmin": lambda x: F.softmin(x, 1),
    "norm": torch.norm,
    "vector_norm": torch.linalg.vector_norm,
    "renorm": lambda x: x.renorm(2, 0, 1.0),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "rms_norm": lambda x: F.rms_norm(x, (4,)),
    "group_norm": lambda x: F.group_norm(x, 2),
    "normalize": F.normalize,
    "cdist": lambda x: torch.cdist(x, x),
    "pdist": F.pdist,
    "dist": lambda x: torch.dist(x, x + 1),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x),
    "mse_loss": lambda x: F.mse_loss(x, x),
    "l1_loss": lambda x: F.l1_loss(x, x),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x),
    "huber_loss": lambda x: F.huber_loss(x, x),
    "kl_div": lambda x: F.kl_div(x, x, reduction="sum"),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, x),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, x),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, x, x),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x, x),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(x, x, x[:, 0]),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, x),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x, torch.zeros_like(x, dtype=torch.long)),
    "nll_loss": lambda x: F.nll_loss(x, torch.zeros(4, dtype=torch.long, device="cuda")),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.zeros(4, dtype=torch.long, device="cuda")),
    "bce_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "interpolate": lambda x: F.interpolate(x[None, None], scale_factor=2.0),
    "interpolate, bilinear": lambda x: F.interpolate(x[None, None], scale_factor=2.0, mode="bilinear"),
}

# Results have the widest dtype among the arguments.
PROMOTED: dict[str, Callable[[Any, Any], Any]] = {
    "addcdiv": lambda x, y: torch.addcdiv(x, y, y),
    "addcmul": lambda x, y: torch.addcmul(x, y, y),
    "atan2": torch.atan2,
    "bilinear": lambda x, y: F.bilinear(x, y, x[None]),
    "cross": lambda x, y: torch.cross(x[:, :3], y[:, :3], 1),
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "vdot": lambda x, y: torch.vdot(x[0], y[0]),
    "grid_sample": lambda x, y: F.grid_sample(x[None, None], y.reshape(1, 4, 2, 2), align_corners=False),
    "index_put": lambda x, y: x.index_put((torch.zeros(4, dtype=torch.long, device="cuda"),), y),
    "scatter_add": lambda x, y: x.scatter_add(0, torch.zeros(4, 4, dtype=torch.long, device="cuda"), y),
    "tensordot": lambda x, y: torch.tensordot(x, y, 1),
}

UNCHANGED: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "mul": lambda x: x * 2,
    "div": lambda x: x / x,
    "sqrt": torch.sqrt,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "mish": F.mish,
    "mean": torch.mean,
    "var": torch.var,
    "std": torch.std,
    "amax": torch.amax,
    "sort": lambda x: x.sort(1).values,
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x]),
    "dropout": lambda x: F.dropout(x, 0.5),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "max_pool2d": lambda x: F.max_pool2d(x[None, None], 2),
    "max_pool3d": lambda x: F.max_pool3d(x[None, None, None], (1, 2, 2)),
    "avg_pool2d": lambda x: F.avg_pool2d(x[None, None], 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x[None, None, None], (1, 2, 2)),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x[None], 2),
    "pad": lambda x: F.pad(x[None], (1, 1), mode="reflect"),
    "logsigmoid": F.logsigmoid,
    "elu": F.elu,
    "embedding": lambda x: F.embedding(torch.tensor([1], device="cuda"), x),
    "_foreach_exp": lambda x: torch._foreach_exp([x])[0],
    "_foreach_norm": lambda x: torch._foreach_norm([x])[0],
    "exp_": lambda x: x.clone().exp_(),
    "sum, out": lambda x: torch.sum(x, 0, out=torch.empty_like(x[0])),
}


@pytest.mark.parametrize("name", LOWER)
def test_products_run_in_the_narrow_dtype(name: str):
    x = values(4, 4)
    for narrow in (HALF, torch.bfloat16):
        with torch.autocast("cuda", dtype=narrow):
            assert LOWER[name](x).dtype == narrow
            assert LOWER[name](x.to(narrow)).dtype == narrow


@pytest.mark.parametrize("name", WIDER)
def test_these_run_in_float32(name: str):
    x = values(4, 4, dtype=HALF)
    with torch.autocast("cuda"):
        assert WIDER[name](x).dtype == FLOAT
        assert WIDER[name](x.float()).dtype == FLOAT


@pytest.mark.parametrize("name", PROMOTED)
def test_these_run_in_the_widest_dtype(name: str):
    x = values(4, 4)
    with torch.autocast("cuda"):
        for first, second, expected in [(HALF, HALF, HALF), (HALF, FLOAT, FLOAT), (FLOAT, HALF, FLOAT)]:
            assert PROMOTED[name](x.to(first), x.to(second)).dtype == expected


@pytest.mark.parametrize("name", UNCHANGED)
def test_the_rest_is_left_alone(name: str):
    x = values(4, 4)
    with torch.autocast("cuda"):
        assert UNCHANGED[name](x).dtype == FLOAT
        assert UNCHANGED[name](x.to(HALF)).dtype == HALF


def test_binary_cross_entropy_is_refused():
    x = values(4)
    with torch.autocast("cuda"):
        with pytest.raises(RuntimeError, match="autocast"):
            F.binary_cross_entropy(x, x)
        with torch.autocast("cuda", enabled=False):
            assert F.binary_cross_entropy(x, x).dtype == FLOAT


def test_the_result_has_the_dtype_asked_for():
    x = values(4, 4, dtype=HALF)
    with torch.autocast("cuda"):
        assert x.sum(dtype=HALF).dtype == HALF
        assert x.softmax(0, dtype=torch.float64).dtype == torch.float64
        assert x.double().exp().dtype == torch.float64


def test_devices_keep_their_own_lists():
    on_cuda, on_cpu = values(2, 2, dtype=HALF), torch.ones(2, 2, dtype=torch.bfloat16)
    with torch.autocast("cuda"), torch.autocast("cpu"):
        assert on_cuda.exp().dtype == FLOAT and on_cpu.exp().dtype == torch.bfloat16
        pooled = [F.avg_pool3d(x[None, None, None], (1, 2, 2)).dtype for x in (on_cuda, on_cpu)]
        assert pooled == [HALF, FLOAT]
        assert (on_cuda @ on_cuda).dtype == HALF and (on_cpu @ on_cpu).dtype == torch.bfloat16

        # An operator with a policy on the other device alone calls others that have one here.
        assert F.cosine_similarity(on_cpu.float(), on_cpu.float()).dtype == FLOAT
        assert torch.linalg.multi_dot([on_cpu.float(), on_cpu.float()]).dtype == torch.bfloat16
    with torch.autocast("cuda"):
        assert F.binary_cross_entropy(torch.full((2,), 0.5), torch.ones(2)).dtype == FLOAT


def test_model_trains():
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3)
    ).cuda()
    x, labels = values(6, 4), torch.tensor([0, 1, 2] * 2, device="cuda")

    with torch.autocast("cuda"):
        scores = model(x)
        loss = F.cross_entropy(scores, labels)
    assert scores.dtype == HALF and loss.dtype == FLOAT

    loss.backward()
    assert all(p.grad.dtype == FLOAT and p.grad.isfinite().all() for p in model.parameters())
    reference = F.cross_entropy(model(x), labels)
    assert abs(loss.item() - reference.item()) < 2**-8
