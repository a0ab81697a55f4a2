"""torch.nn.utils.fusion: a layer and its batch normalization as one layer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn


def close(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_fusion_of_convolution_and_norm(transposed: bool, bias: bool) -> None:
    conv = (nn.ConvTranspose2d if transposed else nn.Conv2d)(3, 4, 3, bias=bias)
    bn = nn.BatchNorm2d(4)
    bn(torch.randn(8, 4, 5, 5) * 2 + 1)
    nn.init.normal_(bn.weight), nn.init.normal_(bn.bias)
    conv.eval(), bn.eval()
    fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose=transposed)
    x = torch.randn(2, 3, 6, 6)
    close(fused(x), bn(conv(x)), 1e-4)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(conv.train(), bn)


def test_fusion_of_linear_and_norm() -> None:
    linear = nn.Linear(3, 4).eval()
    bn = nn.BatchNorm1d(4)
    bn(torch.randn(8, 4) * 2 + 1)
    bn.eval()
    x = torch.randn(5, 3)
    close(nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), 1e-4)
    with pytest.raises(AssertionError, match="To fuse"):
        nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(3).eval())
