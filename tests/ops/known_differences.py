"""Intended differences from PyTorch, by operator and with the reason.

Everything that is not listed here must agree.
"""

from __future__ import annotations

from tests.subject import WITH_PEER, torch

# Values that no test can compare. Operators with a ``Generator`` argument are random and need no entry.
WITHOUT_VALUES: dict[str, str] = {
    "empty": "uninitialised memory",
    "empty_strided": "uninitialised memory",
    "empty_permuted": "uninitialised memory",
    "empty_like": "uninitialised memory",
    "new_empty": "uninitialised memory",
    "new_empty_strided": "uninitialised memory",
}

# Operators that reach beyond an argument into the memory of another: copies of the arguments do not share it.
SHARED_MEMORY: dict[str, str] = {"slice_inverse": "its samples are parts of one storage"}

# (operator, dtype) pairs that are not compared with PyTorch; "*" means every dtype.
NOT_COMPARED: dict[tuple[str, str], str] = {
    **{
        (f"gradient.{name}", dtype): "differences of rounded numbers, added up in another order"
        for name in (
            "scalarint",
            "scalararray",
            "scalarrayint",
            "scalarrayarray",
            "tensorarray",
            "tensorarrayint",
        )
        for dtype in ("float16", "bfloat16")
    },
    **{
        (
            f"_fused_sgd_{overload}",
            dtype,
        ): "PyTorch's kernel changes only the elements behind the last whole vector"
        for overload in ("", ".tensor_lr")
        for dtype in ("float16", "bfloat16")
    },
    (
        "div.Number_mode",
        "bfloat16",
    ): "behind the last whole vector PyTorch rounds the quotient before it cuts off its digits",
    ("matrix_exp", "float16"): "computed in float32; PyTorch's coefficients overflow",
    ("matrix_exp", "bfloat16"): "computed in float32; PyTorch's coefficients lose their digits",
    **{(name, "float64"): "PyTorch's trigamma function has 9 digits" for name in ("polygamma", "polygamma_")},
    ("igammac", "float64"): "PyTorch's has 9 digits",
    **{(f"special_bessel_{kind}", "float64"): "PyTorch's has 8 digits" for kind in ("j0", "j1", "y0", "y1")},
    ("special_airy_ai", "float64"): "PyTorch's has 6 digits for some negative numbers",
    **{
        (name, dtype): "PyTorch computes in the narrow dtype; coordinates and weights are float32 here"
        for name in (
            "fractional_max_pool2d",
            "fractional_max_pool3d",
            "grid_sampler",
            "grid_sampler_2d",
            "grid_sampler_3d",
            "upsample_trilinear3d",
            "upsample_trilinear3d.vec",
            "upsample_bicubic2d",
        )
        for dtype in ("float16", "bfloat16")
    },
    **{
        ("embedding_bag", dtype): "PyTorch leaves bags of indices and sizes empty where it does not need them"
        for dtype in ("float16", "bfloat16", "float32", "float64")
    },
    ("instance_norm", "bfloat16"): "PyTorch rounds on the way; its results are off by twice as much",
    ("conv_transpose1d", "bfloat16"): "without AVX-512, PyTorch rounds on the way and is off twice as far",
    **{("_standard_gamma_grad", dtype): "PyTorch's has 4 digits" for dtype in ("float32", "float64")},
}

if not torch.backends.mkl.is_available():
    # Both results come from MKL otherwise.
    NOT_COMPARED |= {
        ("fft_hfft", dtype): "with a large prime, PyTorch's error is four times ours"
        for dtype in ("float32", "complex64", "int64")
    }

if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
    # Without fused multiply-adds both round more.
    NOT_COMPARED["conv2d", "complex64"] = "PyTorch's error is twice ours"

# Operators whose values PyTorch defines differently for infinities and NaN; samples with any are not
# compared.
NOT_COMPARED_IF_INFINITE: dict[str, str] = {
    "hardswish": "-inf gives 0, the limit; PyTorch multiplies it by 0",
    "gelu": "inf gives inf; PyTorch nan",
    "sgn": "nan gives nan; PyTorch 0",
    "special_airy_ai": "infinities give 0, the limit; PyTorch nan",
    **dict.fromkeys(("i0", "special_i1"), "inf gives inf; PyTorch nan"),
    **{f"special_bessel_{kind}": "inf gives 0, the limit; PyTorch nan" for kind in ("j0", "j1", "y0", "y1")},
}

# The same for the NumPy formula.
NOT_COMPARED_WITH_NUMPY_IF_INFINITE: dict[str, str] = {"sign": "nan gives 0, as in PyTorch; NumPy's is nan"}

# Errors in PyTorch 2.13's gradients, which TEST_WITH=torch skips.
MISTAKES_OF_PYTORCH: dict[str, str] = {
    "group_norm": "fails for a bias without a weight",
    "layer_norm": "the second derivative of a bias without a weight is wrong",
    "embedding": "the second derivative fails where there are no indices",
    "copy_": "gradgradcheck in fast mode does not know that the gradient of self is zero",
    "fill_.Tensor": "gradgradcheck in fast mode does not know that the gradient of self is zero",
}

# Operators of PyTorch that resize ``out=`` without the warning.
RESIZES_QUIETLY = {"log_sigmoid"} if WITH_PEER else set()

# Operators whose strides differ where both are valid.
STRIDES: dict[str, str] = {
    "rsub.Tensor": "follows its first argument; PyTorch the second, which it subtracts from",
    **dict.fromkeys(
        ("complex", "polar"), "contiguous: the parts are stacked; PyTorch keeps the order of dimensions"
    ),
    "rrelu": "keeps the order of dimensions; PyTorch's result is contiguous",
    "_foreach_pow.ScalarAndTensor": "keeps the order of dimensions; PyTorch's result is contiguous",
    "unique_dim": "contiguous; PyTorch puts the slices one after another",
    "unique_consecutive": "contiguous; PyTorch puts the slices one after another",
    "renorm": "keeps the order of dimensions; PyTorch's result is contiguous",
    "conj": "is computed; PyTorch returns a view and conjugates later",
    "linalg_solve": "batches of vectors are contiguous",
    "linalg_solve_ex": "batches of vectors are contiguous",
    "linalg_lstsq": "is dense; PyTorch's is a part of what LAPACK worked in",
    "log_sigmoid": "keeps the order of dimensions; PyTorch's result is contiguous",
    **dict.fromkeys(
        (
            f"fft_{name}{rank}"
            for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
            for rank in ("", "2", "n")
        ),
        "is contiguous; PyTorch's depends on the order in which its library takes dimensions",
    ),
    "stft.center": "is made of contiguous transforms",
    "conj_physical": "is a dense copy; PyTorch returns real tensors themselves",
}

# Operators without second derivatives.
ONCE_DIFFERENTIABLE: dict[str, str] = dict.fromkeys(
    ("ctc_loss.IntList", "ctc_loss.Tensor"), "the gradient is a sum over alignments of its own"
)

# These read only one triangle of a Hermitian matrix, while numerical differentiation changes both.
HERMITIAN_INPUT = {"linalg_cholesky", "linalg_cholesky_ex", "cholesky", "linalg_eigh", "linalg_eigvalsh"}

# Vectors of complex matrices are determined up to a phase: derivatives of absolute values are compared.
UP_TO_PHASE = {"linalg_svd", "svd", "linalg_eigh", "linalg_eig"}
