"""Differences that `python -m tools.fuzz --layers` does not report, by target, kind and changed argument.

All three are regular expressions of the whole: the name in lower case, the kind, and the name of an argument.
A row holds when one of the changed arguments is named; `details` are words of what was found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownLayer:
    targets: str
    kinds: str
    arguments: str
    reason: str
    details: str = ""

    def covers(self, target: str, found: str, changed: Sequence[str]) -> bool:
        kind, details = found.split(":", 1)
        return bool(
            re.fullmatch(self.targets, target.lower())
            and re.fullmatch(self.kinds, kind)
            and any(re.fullmatch(self.arguments, name) for name in changed)
            and re.search(self.details, details)
        )


_LAZY_NORM = "lazy(batch|instance)norm.d"
_NORM = "(lazy|sync)?(batch|instance)_?norm(.d)?"
_NOT_FINITE = "nan|inf"

LAYERS_MAY_DIFFER: tuple[KnownLayer, ...] = (
    # Losses
    KnownLayer(
        "ctc_?loss",
        "values",
        ".*",
        "PyTorch's gradient is the one behind log_softmax, not that of the logarithms",
        r"result\[[23]\]\[",
    ),
    KnownLayer(
        "ctc_?loss",
        "refuses",
        "log_probs|targets|blank|.*lengths",
        "labels out of range make PyTorch read memory out of bounds",
    ),
    KnownLayer(
        "ctc_?loss", "accepts", "targets|target_lengths", "labels behind the last one that the lengths count"
    ),
    KnownLayer(
        "cross_?entropy(loss)?",
        "refuses",
        "label_smoothing",
        "PyTorch does not look at it where the targets are probabilities",
    ),
    KnownLayer("cosine.*", "values", "eps|margin", "the gradient where eps takes the place of a norm"),
    KnownLayer(
        "cosine.*", "values", "x[12]|input[12]?|target", "sums in float32; elements that are not finite"
    ),
    KnownLayer(
        "kl_?div(loss)?",
        "values",
        "target|reduction|log_target|input",
        "where a target is 0 its gradient is 0, PyTorch's nan",
        "PyTorch nan|nan\\)$",
    ),
    KnownLayer(
        "pairwise_?distance|triplet_?margin_?loss",
        "form",
        "p",
        "PyTorch gives no gradient for p = 0, here it is zeros",
    ),
    KnownLayer("hinge_?embedding_?loss", "accepts", "input", "integers are promoted"),
    KnownLayer("poisson_?nll_?loss", "values", "input|target", "mixed dtypes are promoted first"),
    KnownLayer(
        "(smooth_?l1|multi_?label_?(soft_?)?margin|multi_?margin|huber)_?loss",
        "values",
        "input|target|delta|beta",
        "elements that are not finite",
        _NOT_FINITE,
    ),
    KnownLayer(
        "huber_?loss|soft_?margin_?loss",
        "accepts",
        "input|target",
        "gradients of two dtypes, and of the target",
        "Found dtype|differentiable",
    ),
    KnownLayer(
        "soft_?margin_?loss|bcewithlogitsloss|binary_cross_entropy_with_logits",
        "values",
        "input|target",
        "elements that are not finite",
        _NOT_FINITE,
    ),
    KnownLayer(
        "nll_?loss",
        "accepts",
        "input|target",
        "PyTorch's gradient refuses a single label of one dimension",
        "size mismatch",
    ),
    KnownLayer(
        "soft_?margin_?loss",
        "refuses",
        "input|target",
        "complex numbers have no logistic function here",
        "Complex",
    ),
    KnownLayer(
        "bcewithlogitsloss|binary_cross_entropy_with_logits",
        "accepts",
        "target",
        "complex targets have a gradient",
        "complex",
    ),
    # Activations
    KnownLayer(
        "hardswish|hardsigmoid|gelu|softshrink",
        "values",
        "input",
        "limits where PyTorch multiplies infinity by 0",
        _NOT_FINITE,
    ),
    KnownLayer("hardtanh_?|relu6", "values", "min_val|max_val", "limits in the wrong order"),
    KnownLayer("softshrink", "accepts", "lambd", "infinity"),
    KnownLayer("rrelu_?", "accepts", "upper", "infinity"),
    KnownLayer("silu|swish|mish", "accepts", "input", "complex numbers have a gradient"),
    # Normalization
    KnownLayer(
        "(local_response_norm|crossmaplrn2d)",
        "values",
        "size|alpha|beta|k|input",
        "PyTorch's derivative fails gradcheck",
        r"result\[3\]",
    ),
    KnownLayer(
        "crossmaplrn2d",
        "accepts|error",
        "size|input",
        "an internal buffer of PyTorch has the dtype of the input; a window without elements",
    ),
    KnownLayer(
        _NORM,
        "values",
        "input|running_mean|running_var|weight|bias",
        "statistics of elements that are not finite",
        _NOT_FINITE,
    ),
    KnownLayer(_NORM, "refuses", "input", "no channels, where the layer has some", "should contain"),
    KnownLayer(_LAZY_NORM, "values", "eps", "roots of negative numbers", "nan"),
    KnownLayer(
        _LAZY_NORM,
        "accepts|error",
        "input",
        "inputs without a batch have their channels first; without elements",
    ),
    KnownLayer("lazyinstancenorm.d", "refuses", "input|dtype", "statistics of another dtype than the input"),
    KnownLayer(
        _LAZY_NORM,
        "text",
        "affine|track_running_stats",
        "without a weight, the number of features is already known",
    ),
    KnownLayer("group_?norm", "error", "num_(groups|channels)|input", "which check of a size comes first"),
    # Pooling
    KnownLayer(
        "fractional_?max_?pool.d(_with_indices)?",
        "refuses|error|accepts",
        "kernel_size|output_size|output_ratio|input",
        "windows and results without elements",
    ),
    KnownLayer(
        "adaptive_?(avg|max)_?pool.d(_with_indices)?",
        "accepts",
        "output_size",
        "gradients of results without elements",
        "non-zero size",
    ),
    KnownLayer(
        "adaptive_?avg_?pool[23]d",
        "refuses",
        "input",
        "PyTorch takes the mean of a matrix for an output of one element, and refuses it for others",
    ),
    KnownLayer("lp_?pool.d", "accepts", "kernel_size|stride", "a tuple of one size serves all dimensions"),
    KnownLayer("(lp|avg)_?pool.d|unfold", "error", "input", "too few dimensions: an IndexError of PyTorch"),
    KnownLayer(
        "max_?pool1d(_with_indices)?",
        "accepts",
        "padding",
        "half of the window with its gaps, as in 2 dimensions",
        "half of kernel",
    ),
    KnownLayer(
        "avg_?pool3d",
        "accepts",
        "padding|kernel_size",
        "windows that fit with the padding",
        "smaller than kernel",
    ),
    KnownLayer(
        "max_?unpool.d",
        "accepts|refuses|error",
        "kernel_size|stride|padding|output_size",
        "tuples of wrong length are refused, PyTorch reads some of them; strides of 0",
    ),
    KnownLayer(
        "max_?pool3d(_with_indices)?",
        "accepts",
        "input",
        "4 dimensions are a volume without a batch, whatever their strides",
        "memory format",
    ),
    KnownLayer("upsample.*|interpolate", "values", "input", "infinity times 0", _NOT_FINITE),
    KnownLayer("grid_sample", "values", "input|grid", "infinity times 0", _NOT_FINITE),
    # Convolutions and shapes
    KnownLayer(
        "(lazy)?conv_?transpose.d|lazyconv.d",
        "accepts",
        "input|out_channels|weight|kernel_size",
        "oneDNN has no empty convolutions",
    ),
    KnownLayer(
        "(lazy)?conv_?transpose3d",
        "values",
        "input|weight|.*padding|stride|dilation|kernel_size|bias|groups",
        "large sums; float64 agrees with ours",
    ),
    KnownLayer(
        "(lazy)?conv.d",
        "form",
        "input",
        "the channels of a result follow from the weight; PyTorch's from an input without elements",
    ),
    KnownLayer(
        "conv_tbc",
        "refuses",
        "bias|weight|input",
        "a bias of another dtype; a kernel that is longer than the input",
    ),
    KnownLayer(
        "channel_?shuffle|pixel_?shuffle|pixel_?unshuffle",
        "accepts|form",
        "input",
        "no channels, no elements",
    ),
    KnownLayer("bilinear", "error", "weight|input[12]", "PyTorch reads a dimension that is not there"),
    # Embeddings
    KnownLayer(
        "embedding_?bag", "values", "scale_grad_by_freq", "PyTorch divides by the frequency of another row"
    ),
    KnownLayer("embedding(_?bag)?", "accepts", "dtype", "complex weights"),
    KnownLayer("embedding_?bag", "accepts", "weight", "rows of integers are added up as well"),
    KnownLayer("embedding(_?bag)?", "refuses|error", "sparse", "no sparse gradients"),
    KnownLayer("embedding(_?bag)?", "error", "num_embeddings", "a table without rows"),
    # Attention
    KnownLayer("transformer.*", "accepts", ".*is_causal", "what is_causal is worth, not its type"),
    KnownLayer("transformer", "accepts", "num_(en|de)coder_layers|.*mask", "no layers"),
    KnownLayer("transformer.*", "error", "src|tgt|memory|nhead|d_model", "which check of a size comes first"),
    KnownLayer(
        "scaled_dot_product_attention",
        "refuses",
        "dropout_p|key|value",
        "no rows of keys or values; a negative dropout",
    ),
    KnownLayer(
        "scaled_dot_product_attention",
        "error",
        "enable_gqa",
        "heads are a dimension, which PyTorch reads without asking for it",
    ),
    KnownLayer(
        "scaled_dot_product_attention",
        "values",
        "query|key|value",
        "rows of which no score is finite",
        _NOT_FINITE,
    ),
    # Optimizers and initial values
    KnownLayer("muon", "refuses", "eps", "a negative epsilon"),
    KnownLayer("adafactor", "error", "eps", "no pair of numbers"),
    KnownLayer("sgd", "refuses", "dampening", "no number, which PyTorch does not look at without momentum"),
    KnownLayer("trunc_normal_", "refuses", "std", "a negative deviation"),
)
