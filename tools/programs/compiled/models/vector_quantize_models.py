"""Quantizers of vector-quantize-pytorch."""

import torch
from training import Model
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize


class Quantized(torch.nn.Module):
    def __init__(self, width, quantizer):
        super().__init__()
        self.linear = torch.nn.Linear(8, width)
        self.quantizer = quantizer

    def forward(self, x):
        return self.quantizer(self.linear(x))


def vectors(batch):
    return (torch.randn(batch, 16, 8),)


MODELS = {
    "VectorQuantize": Model(lambda: Quantized(8, VectorQuantize(dim=8, codebook_size=16)), vectors),
    "ResidualVQ": Model(lambda: Quantized(8, ResidualVQ(dim=8, num_quantizers=2, codebook_size=16)), vectors),
    "FSQ": Model(lambda: Quantized(3, FSQ([8, 5, 5])), vectors),
    "LFQ": Model(lambda: Quantized(4, LFQ(codebook_size=16, dim=4)), vectors),
}
