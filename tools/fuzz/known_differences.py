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
# A target is named by the beginning of its name, in lower case.
_ANY = "*"
LAYERS_MAY_DIFFER: dict[tuple[str, str, str], str] = {
    **dict.fromkeys(
        ((name, _ANY, _ANY) for name in ("softmarginloss", "soft_margin_loss", "huber", "bcewithlogits", "binary_cross_entropy", "bceloss")),
        "PyTorch writes the result in the dtype and size of the input, and refuses what does not fit; here pairs are promoted",
    ),
    ("ctc", "values", _ANY): "PyTorch's gradient is the one behind log_softmax, not that of the logarithms",
    ("ctc", "refuses", _ANY): "labels that are no classes are read from memory that is not there",
    ("fractional", _ANY, _ANY): "windows and results without elements",
    ("crossmaplrn2d", _ANY, _ANY): "PyTorch's derivative fails gradcheck",
    ("embeddingbag", "values", "scale_grad_by_freq"): "PyTorch divides by the frequency of another row",
    ("embeddingbag", "accepts", "dtype"): "complex weights",
    **dict.fromkeys((("embedding", "refuses", "sparse"), ("embedding", "error", "sparse")), "no sparse gradients"),
    ("lppool", "accepts", "kernel_size"): "a tuple of one size serves all dimensions",
    ("lp_pool", "accepts", "kernel_size"): "a tuple of one size serves all dimensions",
    **dict.fromkeys((("hardtanh", "values", name) for name in ("min_val", "max_val")), "limits in the wrong order"),
    ("crossentropy", "refuses", "label_smoothing"): "PyTorch does not look at it where the targets are probabilities",
    ("cross_entropy", "refuses", "label_smoothing"): "PyTorch does not look at it where the targets are probabilities",
    **dict.fromkeys(((name, "accepts", _ANY) for name in ("lazyinstancenorm", "lazybatchnorm")), "inputs without a batch; eps"),
    **dict.fromkeys(((name, _ANY, _ANY) for name in ("max_unpool", "maxunpool")), "tuples of wrong length are refused, PyTorch reads some of them"),
    **dict.fromkeys(((name, "accepts", _ANY) for name in ("convtranspose", "lazyconv", "conv_transpose")), "oneDNN has no empty convolutions"),
    **dict.fromkeys(((name, "values", _ANY) for name in ("convtranspose3d", "lazyconvtranspose3d")), "large sums; float64 agrees with ours"),
    ("linear", "refuses", "bias"): "a bias of other than one dimension",
    ("conv_tbc", "refuses", "bias"): "a bias of another dtype",
    **dict.fromkeys(((name, "accepts", "output_size") for name in ("adaptive",)), "gradients of results without elements"),
    ("channelshuffle", "accepts", "input"): "no channels",
    ("cosine", "values", _ANY): "the gradient where eps takes the place of a norm; sums in float32",
    ("kldiv", "values", "target"): "where a target is 0 its gradient is 0, PyTorch's nan",
    **dict.fromkeys(((name, "form", "p") for name in ("pairwisedistance", "tripletmargin", "triplet_margin")),
                    "PyTorch gives no gradient for p = 0, here it is zeros"),
    **dict.fromkeys(((name, "refuses", "input") for name in ("adaptive_avg_pool2d", "adaptiveavgpool2d")),
                    "PyTorch takes the mean of a matrix for an output of one element, and refuses it for others"),
    ("pixel_unshuffle", "form", "input"): "PyTorch leaves the shape of tensors without elements",
    ("fold", "refuses", "input"): "bool",
    ("bilinear", "error", _ANY): "PyTorch reads a dimension that is not there",
    **dict.fromkeys(((name, "error", "input") for name in ("lppool", "lp_pool", "avgpool", "avg_pool", "unfold")), "an IndexError of PyTorch"),
    **dict.fromkeys(
        ((name, "values", _ANY) for name in ("hardswish", "hardsigmoid", "gelu", "grid_sample", "smoothl1", "smooth_l1", "multilabel", "multi",
                                             "lazybatchnorm", "batchnorm", "lazyinstancenorm", "instancenorm", "syncbatchnorm")),
        "nan where PyTorch has infinity or 0, or the other way round, for elements that are not finite; bfloat16",
    ),
    **dict.fromkeys(((name, "values", "input") for name in ("upsample", "interpolate")), "infinity times 0"),
    **dict.fromkeys((("pixelunshuffle", "accepts", "input"), ("pixelshuffle", "accepts", "input")), "no elements"),
    ("ctc", "accepts", "targets"): "labels behind the last one that the lengths count",
    ("muon", "refuses", "eps"): "a negative epsilon",
    ("embedding", "error", "num_embeddings"): "a table without rows",
    ("lazyinstancenorm", "refuses", _ANY): "statistics of another dtype than the input",
    ("softshrink", "accepts", "lambd"): "infinity",
    ("transformer", "accepts", _ANY): "what is_causal is worth, not its type",
    ("transformer", "error", _ANY): "which check of a size comes first",
    ("trunc_normal_", "refuses", "std"): "a negative deviation",
    ("hinge", "accepts", "input"): "integers are promoted",
    ("poissonnll", "values", _ANY): "mixed dtypes are promoted first",
    ("rrelu", "accepts", "upper"): "infinity",
    **dict.fromkeys((("lazybatchnorm", "text", _ANY), ("lazyinstancenorm", "text", _ANY)), "the number of features when there is no weight"),
    ("scaled_dot_product", "refuses", _ANY): "no rows of keys or values; a negative dropout",
    ("groupnorm", "error", _ANY): "which check comes first",
}
