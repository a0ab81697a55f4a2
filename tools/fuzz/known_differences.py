"""Differences that `python -m tools.fuzz --peer` does not report, with the reason; see tests/ops, too."""

from __future__ import annotations

from .circumstances import (
    Known,
    all_of,
    always,
    any_of,
    beyond,
    has_complex,
    has_empty,
    has_integers,
    has_layout,
    has_mixed_dtypes,
    has_number_outside,
    has_numbers,
    has_reduced_precision,
    has_scalar_tensor,
    is_expanded,
    is_extreme,
)

_SVD = (
    "linalg_svd|linalg_svdvals|svd|linalg_cond|linalg_matrix_norm.*|"
    "linalg_norm.*|nuclear_norm.*|linalg_pinv.*|pinverse|linalg_matrix_rank.*|norm.*|linalg_eig.*"
)
_FACTORS = (
    "svd|linalg_svd|linalg_eigh?|linalg_qr|qr|geqrf|linalg_lu.*|"
    "lu.*|linalg_tensorsolve|linalg_solve.*|linalg_inv.*|linalg_tensorinv|linalg_lstsq|linalg_ldl.*"
)
_CONVOLUTIONS = r"conv\dd(\.padding)?|convolution|conv_transpose\dd(\.input)?|conv_tbc"
_LOSSES = ".*_loss.*|binary_cross_entropy.*|huber_loss|kl_div|poisson_nll_loss"

NOT_CALLED: tuple[Known, ...] = (
    Known(r"(gru|lstm|rnn_\w+)\.data", "", has_empty, "PyTorch reads batch sizes that are not there"),
    Known("repeat_interleave.*", "", beyond(1e6), "results of gigabytes"),
    Known("lcm|gcd", "", beyond(1e9), "PyTorch divides by 0"),
    Known("segment_reduce", "", has_empty, "PyTorch reads past the end of data without elements"),
    Known("linalg_eig.*", "", is_extreme, "MKL ends the process for elements that are not finite"),
    Known("special_.*_polynomial_.*", "", beyond(1e9), "PyTorch's loop has as many steps as the degree"),
    Known(r"max_pool\dd_with_indices_backward", "", beyond(1e9), "PyTorch writes where the index points"),
)

MAY_DIFFER: tuple[Known, ...] = (
    Known("sort|argsort|topk", "values", always, "equal elements are in order; PyTorch's order is any"),
    Known("resize_as_|resize_", "values", always, "new elements are uninitialised"),
    Known(
        "_sample_dirichlet|_standard_gamma|bernoulli.p", "strides", always, "keeps the order of dimensions"
    ),
    Known(
        "pow.*|float_power.Scalar",
        "strides",
        has_numbers,
        "keeps the order of dimensions of the exponent; PyTorch's result is contiguous",
    ),
    Known(
        "reflection_pad3d|replication_pad3d",
        "strides",
        has_layout("channels_last"),
        "4 dimensions are a volume without a batch, no batch of images",
    ),
    Known("arange.start_step", ".*", always, "too large, or wrong in two ways"),
    # Overflow: where an intermediate result is infinite.
    Known(
        "special_.*_polynomial_.*",
        "values",
        beyond(30),
        "infinite where PyTorch adds up nan; degrees beyond int64",
    ),
    Known(
        "hardswish|i0|special_i1|special_bessel_.*|linalg_norm.*|linalg_cond.*|linalg_vector_norm|gradient.*|expm1|linalg_det|det|logdet|matrix_power|"
        "linalg_matrix_power|mean.*|var_mean.*|std_mean.*|linalg_multi_dot|addr|cumulative_trapezoid.*|trapezoid.*|softplus|pairwise_distance",
        "values",
        is_extreme,
        "nan, infinite or finite by the order of operations",
    ),
    Known(
        _CONVOLUTIONS,
        "values",
        any_of(has_complex, has_integers, is_extreme),
        "infinite complex factors; integers beyond 2**53 are added up in float64; oneDNN drops nan of a "
        "weight",
    ),
    Known(
        "(_foreach_)?(mul|div|add|sub)_?[._].*",
        "values",
        has_reduced_precision,
        "PyTorch rounds the number to float16 first in whole vectors, not in the rest",
    ),
    Known(
        "expm1|mean.*|sum.*|prod.*",
        "values",
        has_complex,
        "PyTorch multiplies the imaginary part, 0, by infinity",
    ),
    Known(
        ".*batch_norm.*",
        "values",
        has_number_outside(0, 1e9),
        "a negative eps: differences that are rounded before the root divides by them",
    ),
    Known("special_bessel_j[01]", "values", beyond(1e3), "PyTorch's angle is rounded to float32"),
    Known(
        "view.dtype",
        "values",
        is_extreme,
        "the bits of nan: a conversion to a narrow dtype chooses them",
    ),
    Known("corrcoef|cov", "values", beyond(1e6), "rounding of the largest term"),
    Known(
        "gradient.*",
        "values",
        all_of(has_integers, beyond(60)),
        "differences of integers wrap, in another order",
    ),
    Known("igamma|igammac|special_gammainc.*", "values", is_extreme, "limits where PyTorch gives nan"),
    Known(
        "cosine_similarity",
        "values",
        any_of(has_reduced_precision, has_mixed_dtypes),
        "norms that are 0 in the dtype of the result",
    ),
    Known("fft_.*|stft.*|istft", "values", beyond(1e3), "rounding of the largest term"),
    Known("triplet_margin_loss", "values", has_number_outside(-1, 10), "eps far beyond the distances"),
    Known(
        ".*",
        "values",
        all_of(has_complex, is_extreme),
        "products of infinite complex numbers: nan in one part or in both",
    ),
    Known("signbit|copysign.*", "values", is_extreme, "the sign of nan does not outlive every conversion"),
    Known(
        "special_airy_ai",
        "values",
        beyond(1e3),
        "PyTorch's angle is rounded to float32 before its cosine is taken",
    ),
    Known(
        ".*",
        "refuses",
        is_expanded,
        "elements that lie in one place are not written to",
        "single memory location",
    ),
    Known("logspace.*|linspace.*", "accepts|refuses", is_extreme, "bounds that the dtype does not hold"),
    # Matrices.
    Known(
        _SVD,
        "refuses|error",
        is_extreme,
        "elements that are not finite are refused by every path; PyTorch's LAPACK returns nan from some",
    ),
    Known(
        _FACTORS, "values", any_of(is_expanded, is_extreme), "factors of singular matrices are not determined"
    ),
    Known("linalg_cond.*", "values", is_extreme, "PyTorch's inverse overflows where the product does not"),
    Known("linalg_slogdet|slogdet", "values", is_extreme, "the sign of nan where the pivots overflow"),
    Known("norm_except_dim", "accepts", has_scalar_tensor, "a number is its only row"),
    Known("linalg_tensorinv", "accepts", has_scalar_tensor, "of a number: its reciprocal"),
    # Without elements.
    Known(
        _CONVOLUTIONS,
        ".*",
        has_empty,
        "results of a channel or batch without elements follow from the sizes; kernels have elements",
    ),
    Known(
        "addmv|mv",
        "form",
        has_empty,
        "a number is broadcast to the rows; PyTorch forgets it where the matrix has no elements",
    ),
    Known(
        "pixel_unshuffle|pixel_shuffle",
        "form",
        has_empty,
        "PyTorch leaves the shape of tensors without elements",
    ),
    Known("index_(reduce|add|copy).*", "accepts", has_empty, "nothing is put anywhere"),
    Known("repeat_interleave.Tensor", "refuses", has_empty, "output_size is compared with the sum, 0, too"),
    Known("cumsum|cumprod", "refuses", has_empty, "in place, of bool"),
    Known(
        "embedding_bag",
        "form",
        always,
        "results that are not needed are empty in PyTorch, or of another size",
    ),
    # Dtypes.
    Known(
        "affine_grid_generator",
        "refuses",
        any_of(has_integers, has_complex),
        "PyTorch's grid is cut off to integers, or complex",
    ),
    Known(
        _CONVOLUTIONS,
        "refuses",
        has_mixed_dtypes,
        "a bias of another dtype, which some of PyTorch's kernels convert",
    ),
    Known(
        _CONVOLUTIONS,
        "refuses",
        has_complex,
        "complex results without elements, which real ones are refused for",
    ),
    Known(
        _CONVOLUTIONS, "strides", has_complex, "complex results are contiguous; PyTorch joins two real ones"
    ),
    Known(
        r"adaptive_avg_pool\dd",
        "refuses",
        any_of(has_complex, has_integers),
        "PyTorch takes the mean for an output of one element, else refuses",
    ),
    Known(
        "constant_pad_nd|fill.*|full.*|new_full|scalar_tensor|masked_fill.*|index_fill.*",
        "refuses",
        has_complex,
        "an imaginary number for real elements, bool ones too",
    ),
    Known(
        "cummin|cummax|kthvalue|mode",
        "refuses",
        has_scalar_tensor,
        "complex numbers have no order, a single one neither",
    ),
    Known(
        "index_put_?",
        "accepts",
        has_scalar_tensor,
        "a tensor of 0 dimensions is a number of any dtype, as a Python number is",
    ),
    Known(
        "isin.*",
        "refuses",
        has_number_outside(-(2**15), 2**15),
        "a number that the dtype does not hold; PyTorch's wraps and finds another",
    ),
    Known(
        r"_foreach_addc(mul|div)_?\.Tensor",
        "accepts",
        has_layout("expanded", "strided", "transposed"),
        "PyTorch wants contiguous scalars",
    ),
    Known(
        r"_foreach_(minimum|maximum|clamp_m..)_?\.Scalar.*",
        "accepts",
        beyond(100),
        "a bound that the dtype does not hold",
    ),
    Known(
        "binomial",
        "error",
        has_mixed_dtypes,
        "count and prob of two dtypes: RuntimeError, whichever of the two is not floating",
    ),
    Known("embedding_bag", "accepts", has_integers, "rows of integers are added up as well"),
    Known("bilinear", "accepts", has_empty, "without features, the result is the bias"),
    Known("bilinear|_standard_gamma_grad", "accepts", has_mixed_dtypes, "dtypes are promoted"),
    Known(
        "soft_margin_loss|multilabel_.*_loss.*",
        "refuses",
        has_complex,
        "complex numbers have no logistic function here",
    ),
    Known(
        "hardtanh_?",
        "refuses",
        has_integers,
        "negative limits of unsigned integers, whatever is behind their point",
    ),
    Known("lu_unpack", "refuses", has_empty, "pivots of a matrix without elements"),
    # Numbers.
    Known("conv_tbc", "refuses", has_number_outside(0, 1e9), "a negative padding"),
    Known("fft_r?fftfreq", "refuses|error", has_number_outside(0, 1e9), "a negative number of samples"),
    Known(
        "grid_sampler.*",
        "refuses",
        has_number_outside(0, 2),
        "an unknown interpolation; PyTorch's kernels take it for a known one",
    ),
    Known(
        _LOSSES,
        ".*",
        has_number_outside(0, 2),
        "an unknown reduction is an internal error of PyTorch, or the sum, or none",
    ),
    Known(
        "_pad_packed_sequence", "accepts", has_number_outside(-128, 127), "a padding value that is not needed"
    ),
    Known("multilabel_margin_loss", "accepts", always, "labels behind the first -1 are not looked at"),
    # Indices.
    Known(
        "index_select|take_along_dim|gather|index_add|index_copy|embedding.*",
        "error|refuses",
        always,
        "IndexError for an index beyond the size; PyTorch has an exception for each path, or reads on",
    ),
    Known("slice_inverse", ".*", always, "the size of the slice is checked"),
)
