"""torch.utils.collect_env: the description of the environment."""

from __future__ import annotations

import torch_py as torch


def test_collect_env():
    from torch_py.utils import collect_env

    text = collect_env.get_pretty_env_info()
    assert f"torch version: {torch.__version__}" in text and "numpy==" in text
