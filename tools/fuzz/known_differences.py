"""What `python -m tools.fuzz --peer` does not report: (operator, kind of difference) with the reason. See tests/ops/known_differences.py, too."""

from __future__ import annotations

MAY_DIFFER: dict[tuple[str, str], str] = {
    **dict.fromkeys((("sort", "values"), ("argsort", "values"), ("topk", "values")), "equal elements are in order; PyTorch's order is any"),
    **dict.fromkeys((("mse_loss", "*"), ("l1_loss", "*")), "an unknown reduction is an internal error of PyTorch, or none"),
    ("resize_as_", "values"): "new elements are uninitialised",
    ("_sample_dirichlet", "strides"): "keeps the order of dimensions",
    **dict.fromkeys((("arange.start_step", "*"), ("repeat_interleave.self_int", "error")), "too large, or wrong in two ways"),
}

# What `python -m tools.fuzz --layers` does not report: (target, kind of difference, argument) with the reason.
LAYERS_MAY_DIFFER: dict[tuple[str, str, str], str] = {}
