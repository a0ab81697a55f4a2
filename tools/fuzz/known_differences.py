"""What `python -m tools.fuzz --peer` does not report: (operator, kind of difference) with the reason. See tests/ops/known_differences.py, too."""

from __future__ import annotations

from .circumstances import (
    Known,
    always,
    any_of,
    beyond,
    has_bool,
    has_complex,
    has_empty,
    has_integers,
    has_layout,
    has_number_outside,
    has_numbers,
    has_scalar_tensor,
    is_expanded,
    is_extreme,
    is_mixed,
    is_reduced,
)

_SVD = "linalg_svd|linalg_svdvals|svd|linalg_cond|linalg_matrix_norm.*|linalg_norm.*|nuclear_norm.*|linalg_pinv.*|pinverse|linalg_matrix_rank.*|norm.*"
_FACTORS = "svd|linalg_svd|linalg_eigh?|linalg_qr|qr|geqrf|linalg_lu.*|lu.*|linalg_tensorsolve|linalg_solve.*|linalg_inv.*|linalg_tensorinv|linalg_lstsq|linalg_ldl.*"
_CONVOLUTIONS = r"conv\dd(\.padding)?|convolution|conv_transpose\dd(\.input)?|conv_tbc"
_LOSSES = ".*_loss.*|binary_cross_entropy.*|huber_loss|kl_div|poisson_nll_loss"

MAY_DIFFER: tuple[Known, ...] = (
    Known("sort|argsort|topk", "values", always, "equal elements are in order; PyTorch's order is any"),
    Known("resize_as_|resize_", "values", always, "new elements are uninitialised"),
    Known("_sample_dirichlet|bernoulli.p", "strides", always, "keeps the order of dimensions"),
    Known("pow.*|float_power.Scalar", "strides", has_numbers, "keeps the order of dimensions of the exponent; PyTorch's result is contiguous"),
    Known("reflection_pad3d|replication_pad3d", "strides", has_layout("channels_last"), "4 dimensions are a volume without a batch, no batch of images"),
    Known("arange.start_step", ".*", always, "too large, or wrong in two ways"),
    # Overflow: where an intermediate result is infinite.
    Known("special_.*_polynomial_.*", "values", beyond(30), "infinite where PyTorch adds up nan; degrees beyond int64"),
    Known("hardswish|i0|special_i1|special_bessel_.*|linalg_norm.*|linalg_vector_norm|gradient.*|expm1|linalg_det|det|logdet|matrix_power|"
          "linalg_matrix_power|mean.*|var_mean.*|std_mean.*|linalg_multi_dot|addr|cumulative_trapezoid.*|trapezoid.*|softplus|pairwise_distance",
          "values", is_extreme, "nan, infinite or finite by the order of operations"),
    Known(_CONVOLUTIONS, "values", any_of(has_complex, has_integers), "infinite complex factors; integers beyond 2**53 are added up in float64"),
    Known("(_foreach_)?(mul|div|add|sub)_?[._].*", "values", is_reduced, "PyTorch rounds the number to float16 first in whole vectors, not in the rest"),
    Known("expm1|mean.*|sum.*|prod.*", "values", has_complex, "PyTorch multiplies the imaginary part, 0, by infinity"),
    Known("fft_.*|stft.*|istft", "values", beyond(1e3), "rounding of the largest term"),
    Known("triplet_margin_loss", "values", has_number_outside(-1, 10), "eps far beyond the distances"),
    # Matrices.
    Known(_SVD, "refuses|error", is_extreme, "elements that are not finite are refused by every path; PyTorch's LAPACK returns nan from some"),
    Known(_FACTORS, "values", any_of(is_expanded, is_extreme), "factors of singular matrices are not determined"),
    Known("linalg_slogdet|slogdet", "values", is_extreme, "the sign of nan where the pivots overflow"),
    Known("linalg_tensorinv", "accepts", has_scalar_tensor, "of a number: its reciprocal"),
    # Without elements.
    Known(_CONVOLUTIONS, ".*", has_empty, "results of a channel or batch without elements follow from the sizes; kernels have elements"),
    Known("addmv|mv", "form", has_empty, "a number is broadcast to the rows; PyTorch forgets it where the matrix has no elements"),
    Known("pixel_unshuffle|pixel_shuffle", "form", has_empty, "PyTorch leaves the shape of tensors without elements"),
    Known("repeat_interleave.Tensor", "refuses", has_empty, "output_size is compared with the sum, 0, too"),
    Known("cumsum|cumprod", "refuses", has_empty, "in place, of bool"),
    Known("embedding_bag", "form", always, "results that are not needed are empty in PyTorch, or of another size"),
    # Dtypes.
    Known("square", "refuses|error", has_bool, "truth values have no product; PyTorch's is an integer"),
    Known("(_foreach_)?abs_?", "accepts", has_complex, "the real result is stored in place; PyTorch refuses"),
    Known("affine_grid_generator", "refuses", has_integers, "integers cannot hold the grid; PyTorch's is cut off to 0 and 1"),
    Known("constant_pad_nd|fill.*|full.*|new_full|masked_fill.*|index_fill.*", "refuses", has_complex, "an imaginary number for real elements, bool ones too"),
    Known("cummin|cummax", "refuses", has_scalar_tensor, "complex numbers have no order, a single one neither"),
    Known("index_put_?", "accepts", has_scalar_tensor, "a tensor of 0 dimensions is a number of any dtype, as a Python number is"),
    Known("isin.*", "refuses", has_number_outside(-(2**15), 2**15), "a number that the dtype does not hold; PyTorch's wraps and finds another"),
    Known(r"_foreach_addc(mul|div)_?\.Tensor", "accepts", has_layout("expanded", "strided", "transposed"), "PyTorch wants contiguous scalars"),
    Known(r"_foreach_(minimum|maximum|clamp_m..)_?\.Scalar.*", "accepts", beyond(100), "a bound that the dtype does not hold"),
    Known("binomial", "error", is_mixed, "count and prob of two dtypes: RuntimeError, whichever of them is no floating one"),
    # Numbers.
    Known("fft_r?fftfreq", "refuses|error", has_number_outside(0, 1e9), "a negative number of samples"),
    Known("grid_sampler.*", "refuses", has_number_outside(0, 2), "an unknown interpolation; PyTorch's kernels take it for a known one"),
    Known(_LOSSES, ".*", has_number_outside(0, 2), "an unknown reduction is an internal error of PyTorch, or the sum, or none"),
    Known("_pad_packed_sequence", "accepts", has_number_outside(-128, 127), "a padding value that is not needed"),
    Known("multilabel_margin_loss", "accepts", always, "labels behind the first -1 are not looked at"),
    # Indices.
    Known("index_select|take_along_dim|gather|index_add|index_copy|embedding.*", "error|refuses", always,
          "IndexError for an index beyond the size; PyTorch has an exception for each path, or reads on"),
    Known("slice_inverse", ".*", always, "the size of the slice is checked"),
)

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
