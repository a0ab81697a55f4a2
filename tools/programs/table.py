"""The packages to try, most important first: the name on PyPI and the script that exercises it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    package: str
    script: str  # scripts/use_SCRIPT.py
    needs_torchvision: bool = False


PROGRAMS = (
    Program("einops", "einops"),
    Program("torchdiffeq", "torchdiffeq"),
    Program("x-transformers", "x_transformers"),
    Program("vit-pytorch", "vit_pytorch", needs_torchvision=True),
    Program("safetensors", "safetensors"),
    Program("torchmetrics", "torchmetrics"),
    Program("skorch", "skorch"),
    Program("gpytorch", "gpytorch"),
    Program("timm", "timm", needs_torchvision=True),
    Program("transformers", "transformers"),
    Program("kornia", "kornia"),
    Program("torch-geometric", "torch_geometric"),
    Program("pytorch-lightning", "pytorch_lightning"),
    Program("lightning", "lightning"),
    Program("accelerate", "accelerate"),
    Program("e3nn", "e3nn"),
    Program("torchsde", "torchsde"),
    Program("botorch", "botorch"),
    Program("pyro-ppl", "pyro"),
    Program("peft", "peft"),
    Program("diffusers", "diffusers"),
    Program("segmentation-models-pytorch", "segmentation_models_pytorch", needs_torchvision=True),
    Program("sentence-transformers", "sentence_transformers"),
    Program("stable-baselines3", "stable_baselines3"),
    Program("tensordict", "tensordict"),
    Program("pytorch-metric-learning", "pytorch_metric_learning"),
    Program("pytorch-ignite", "ignite"),
    Program("opacus", "opacus"),
    Program("vector-quantize-pytorch", "vector_quantize_pytorch"),
)
