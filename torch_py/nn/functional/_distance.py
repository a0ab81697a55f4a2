"""Distances and similarities of vectors, as functions."""

from __future__ import annotations

from torch_py._C import _torch

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity = _torch.cosine_similarity
pairwise_distance = _torch.pairwise_distance
pdist = _torch.pdist
