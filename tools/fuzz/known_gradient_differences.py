"""Differences that `python -m tools.fuzz --gradients` does not report, with the reason.

Where PyTorch's derivative is nan nothing is compared.
"""

from __future__ import annotations

from .circumstances import (
    Known,
    all_of,
    always,
    any_of,
    beyond,
    has_complex,
    has_dtype,
    has_empty,
    has_integers,
    has_numbers,
    has_reduced_precision,
    has_special_elements,
    has_tiny_elements,
)

# Calls that end the process of PyTorch.
NOT_CALLED: tuple[Known, ...] = (Known("pdist", "", always, "PyTorch's gradient of no pairs is a crash"),)

MAY_DIFFER: tuple[Known, ...] = (
    # Which results require grad.
    Known(
        "floor_divide|heaviside|histogram.*|_unique2?|_scaled_mm|unique_dim|unique_consecutive|geqrf|detach_copy|"
        "linalg_ldl_factor(_ex)?|set_.*|_addmm_activation|_weight_int8pack_mm",
        "requires_grad",
        always,
        "without a derivative, results do not require grad; PyTorch's do, and raise in backward",
    ),
    Known(
        "special_bessel_.*|special_(scaled_)?modified_bessel_.*|special_spherical_bessel_.*",
        "requires_grad",
        always,
        "these functions have derivatives here",
    ),
    Known(
        "triangular_solve|linalg_lstsq|lu_unpack|linalg_cond.*|native_group_norm|_unsafe_masked_index|"
        "max_pool2d_with_indices_backward|_foreach_.*",
        "requires_grad",
        always,
        "a result that does not depend on what requires grad does not require grad",
    ),
    # Mistakes of PyTorch.
    Known("as_strided_scatter", "first|second", always, "PyTorch's gradient of self is that of src"),
    Known(
        "embedding",
        "second",
        always,
        "PyTorch's second derivative ignores scale_grad_by_freq",
    ),
    Known(
        r"upsample_nearest[13]d",
        "first|second",
        has_numbers,
        "PyTorch's gradient ignores the scale that its result was made with",
    ),
    Known(
        "cumprod",
        "second",
        has_tiny_elements,
        "PyTorch divides by elements; at tiny ones what cancels out leaves their rounding errors",
    ),
    Known(
        "polar",
        "first|second",
        always,
        "PyTorch's gradient of abs has the wrong sign where abs is negative, and is 0 where it is 0",
    ),
    Known(
        "copysign.Tensor",
        "second",
        has_special_elements,
        "0; PyTorch divides by elements near 0, and the quotients do not cancel",
    ),
    Known(
        "_foreach_.*",
        "second",
        has_empty,
        "weights are numbered by the results that require grad, which are all of PyTorch's",
    ),
    # Definitions.
    Known(
        "cholesky_solve|cholesky_inverse",
        "first|second",
        always,
        "the triangle that is not read has no gradient; PyTorch takes the factor for triangular",
    ),
    Known(
        r"ctc_loss\..*",
        "first|second",
        always,
        "the derivative of the loss; PyTorch's takes log_softmax for granted, after which both agree",
    ),
    Known(
        "elu_?|selu_?|celu_?",
        "second",
        has_special_elements,
        "at 0 the second derivative is that of the side x <= 0",
    ),
    Known(
        "nextafter",
        "first",
        has_special_elements,
        "equal numbers: the result is other; PyTorch's gradient goes to self",
    ),
    Known(
        "sort|argsort|topk|kthvalue|mode|_linalg_eigh|linalg_eig",
        "first|second",
        has_special_elements,
        "which of equal elements is chosen",
    ),
    # Singular points, where rounding decides.
    Known(
        "linalg_(lu|qr|cond|svd|matrix_norm|norm|lstsq|pinv|eig|solve|inv|tensor|det|vander).*|linalg_slogdet|"
        "lu_.*|qr|svd|nuclear_norm.*|pinverse|inverse|det|logdet|slogdet|triangular_solve",
        "first|second",
        has_special_elements,
        "matrices of equal or zero elements are singular: factors and subgradients are not determined",
    ),
    Known(
        "std.*|group_norm|cosine_similarity|corrcoef|gradient.*",
        "first|second",
        has_special_elements,
        "elements that are equal or zero, or coordinates that coincide: divided by rounding errors",
    ),
    Known(
        "(_foreach_)?lgamma_?|digamma|mvlgamma|polygamma|special_(multi)?gammaln|special_digamma|special_psi",
        "first|second",
        has_special_elements,
        "poles",
    ),
    Known(
        "acosh|asin|acos|atanh|logit|special_logit",
        "first|second",
        has_special_elements,
        "outside of the domain: nan",
    ),
    Known(
        "angle",
        "second",
        all_of(has_complex, has_special_elements),
        "numbers whose fourth power is below the smallest",
    ),
    Known(
        "sinc|special_sinc",
        "second",
        all_of(has_complex, has_special_elements),
        "PyTorch's is 0 near 0, where it is -pi^2 / 3",
    ),
    Known(
        "special_i1e?|special_i0e|i0",
        "second",
        has_special_elements,
        "PyTorch's is not exact near 0, and finite for nan",
    ),
    Known(
        "special_log_ndtr",
        "first|second",
        all_of(has_dtype("float32"), beyond(12)),
        "PyTorch's quotient has lost its digits in float32",
    ),
    Known(
        "prod.*|cumprod|.*_polynomial_.*|matrix_exp|linalg_matrix_exp|addc?mul|pow.*|float_power.*",
        "first|second",
        any_of(has_reduced_precision, all_of(has_complex, beyond(20))),
        "rounding of the largest term",
    ),
    Known(
        r"grid_sampler.*|ldexp.*|special_xlog1py|xlogy.*",
        "first|second",
        any_of(has_reduced_precision, has_integers),
        "coordinates and powers are computed in float32; PyTorch computes them in the narrow dtype",
    ),
    Known(
        "binary_cross_entropy",
        "first",
        all_of(has_reduced_precision, has_special_elements),
        "the least divisor, 1e-12, is 0 in float16, and PyTorch's quotient nan",
    ),
    Known(
        "binary_cross_entropy",
        "second",
        has_special_elements,
        "probabilities of 0 and 1, where PyTorch adds the least divisor instead of taking the larger one",
    ),
)
