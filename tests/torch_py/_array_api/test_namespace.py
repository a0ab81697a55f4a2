"""The array API namespace (2024.12): names and parameters, and values compared with NumPy's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import torch_py as torch

xp = torch.ones(1).__array_namespace__()

# The standard's signatures: "name(positional-only / either, * keyword-only)".
_MAIN = """
arange(start / stop step * dtype device) asarray(obj / * dtype device copy) empty(shape * dtype device)
empty_like(x / * dtype device) eye(n_rows n_cols / * k dtype device) from_dlpack(x / * device copy)
full(shape fill_value * dtype device) full_like(x / fill_value * dtype device)
linspace(start stop / num * dtype device endpoint) ones(shape * dtype device)
ones_like(x / * dtype device) tril(x / * k) triu(x / * k) zeros(shape * dtype device)
zeros_like(x / * dtype device) astype(x dtype / * copy device) broadcast_to(x / shape)
can_cast(from_ to /) finfo(type /) iinfo(type /) isdtype(dtype kind) take(x indices / * axis)
take_along_axis(x indices / * axis) clip(x / min max) matmul(x1 x2 /) matrix_transpose(x /)
tensordot(x1 x2 / * axes) vecdot(x1 x2 / * axis) concat(arrays / * axis) expand_dims(x / axis)
flip(x / * axis) moveaxis(x source destination /) permute_dims(x / axes) repeat(x repeats / * axis)
reshape(x / shape * copy) roll(x / shift * axis) squeeze(x / axis) stack(arrays / * axis)
tile(x repetitions /) unstack(x / * axis) argmax(x / * axis keepdims) argmin(x / * axis keepdims)
count_nonzero(x / * axis keepdims) nonzero(x /) searchsorted(x1 x2 / * side sorter)
where(condition x1 x2 /) unique_all(x /) unique_counts(x /) unique_inverse(x /) unique_values(x /)
argsort(x / * axis descending stable) sort(x / * axis descending stable)
cumulative_prod(x / * axis dtype include_initial) cumulative_sum(x / * axis dtype include_initial)
max(x / * axis keepdims) mean(x / * axis keepdims) min(x / * axis keepdims)
prod(x / * axis dtype keepdims) std(x / * axis correction keepdims) sum(x / * axis dtype keepdims)
var(x / * axis correction keepdims) all(x / * axis keepdims) any(x / * axis keepdims)
diff(x / * axis n prepend append)
"""
_UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite "
    "isinf isnan log log10 log1p log2 "
    "logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc"
).split()
_BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide "
    "equal floor_divide greater "
    "greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum "
    "multiply nextafter not_equal pow "
    "remainder subtract"
).split()
_LINALG = """
cholesky(x / * upper) cross(x1 x2 / * axis) det(x /) diagonal(x / * offset) eigh(x /) eigvalsh(x /)
inv(x /) matmul(x1 x2 /) matrix_norm(x / * keepdims ord) matrix_power(x n /) matrix_rank(x / * rtol)
matrix_transpose(x /) outer(x1 x2 /) pinv(x / * rtol) qr(x / * mode) slogdet(x /) solve(x1 x2 /)
svd(x / * full_matrices) svdvals(x /) tensordot(x1 x2 / * axes) trace(x / * offset dtype)
vecdot(x1 x2 / * axis) vector_norm(x / * axis keepdims ord)
"""
_FFT = " ".join(
    [
        *(f"{name}(x / * n axis norm)" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
        *(f"{name}(x / * s axes norm)" for name in ("fftn", "ifftn", "rfftn", "irfftn")),
        "fftfreq(n / * d dtype device) rfftfreq(n / * d dtype device) fftshift(x / * axes) ifftshift(x / * "
        "axes)",
    ]
)


def _signatures(text):
    return [part.strip() for part in text.replace("\n", " ").split(")") if part.strip()]


_ALL = (
    [("", part) for part in _signatures(_MAIN)]
    + [("", f"{name}(x /") for name in _UNARY]
    + [("", f"{name}(x1 x2 /") for name in _BINARY]
    + [("linalg", part) for part in _signatures(_LINALG)]
    + [("fft", part) for part in _signatures(_FFT)]
)


def _described(function):
    """The signature without the name, as the table writes it."""
    parameters = list(inspect.signature(function).parameters.values())
    names = []
    for position, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in names:
            names.append("*")
        names.append(parameter.name)
        following = parameters[position + 1].kind if position + 1 < len(parameters) else None
        if parameter.kind is parameter.POSITIONAL_ONLY and following is not parameter.POSITIONAL_ONLY:
            names.append("/")
    return " ".join(names)


@pytest.mark.parametrize("extension, signature", _ALL, ids=[" ".join(pair) for pair in _ALL])
def test_every_function_of_the_standard_has_its_parameters(extension, signature):
    name, _, parameters = signature.partition("(")
    namespace = getattr(xp, extension) if extension else xp
    assert _described(getattr(namespace, name)) == " ".join(parameters.split())


@pytest.mark.parametrize(
    "name, kind",
    [("broadcast_arrays", "arrays"), ("meshgrid", "arrays"), ("result_type", "arrays_and_dtypes")],
)
def test_variadic_functions(name, kind):
    parameters = inspect.signature(getattr(xp, name)).parameters
    assert parameters[kind].kind is inspect.Parameter.VAR_POSITIONAL


_DRAWS = np.random.default_rng(0)
_INPUTS = {
    "x": _DRAWS.standard_normal((3, 4)),
    "y": _DRAWS.standard_normal((3, 4)),
    "v": _DRAWS.standard_normal(4),
    "s": _DRAWS.standard_normal((3, 3)),
    "b": _DRAWS.standard_normal((3, 3)),
    "z": _DRAWS.standard_normal((2, 3)) + 1j * _DRAWS.standard_normal((2, 3)),
    "f": _DRAWS.standard_normal((2, 3)).astype(np.float32),
    "i": _DRAWS.integers(-5, 9, (3, 4)),
    "j": _DRAWS.integers(1, 6, (3, 4)).astype(np.int8),
    "u": _DRAWS.integers(0, 9, 6).astype(np.uint8),
    "o": np.asarray(3.5),
    "k": np.asarray([2, 0]),
    "t": np.asarray([[True, False], [True, True]]),
}

_EXPRESSIONS = [
    *(
        f"xp.{name}(x)"
        for name in "abs atan ceil cos exp floor isnan logical_not negative positive round sign signbit sin "
        "square trunc".split()
    ),
    *(f"xp.{name}(z)" for name in "abs conj real imag sign exp isfinite".split()),
    *(
        f"xp.{name}(x, y)"
        for name in "add atan2 copysign divide equal hypot less logaddexp maximum multiply not_equal "
        "subtract".split()
    ),
    *(
        f"xp.{name}(i, j)"
        for name in "bitwise_and bitwise_or bitwise_xor floor_divide greater remainder".split()
    ),
    "xp.bitwise_left_shift(j, j)",
    "xp.bitwise_invert(i)",
    "xp.pow(xp.abs(x), y)",
    "xp.add(x, 2)",
    "xp.multiply(2.5, f)",
    "xp.add(f, o)",
    "xp.clip(x, -0.5, 0.5)",
    "xp.clip(x, v, None)",
    "xp.clip(i, max=3)",
    "xp.sum(x)",
    "xp.sum(x, axis=())",
    "xp.sum(x, axis=(0, 1), keepdims=True)",
    "xp.sum(j, axis=1)",
    "xp.sum(t)",
    "xp.sum(f, dtype=xp.float64)",
    "xp.prod(x, axis=(0, -1))",
    "xp.prod(j, axis=0, keepdims=True)",
    "xp.prod(o)",
    "xp.mean(x, axis=1)",
    "xp.mean(f)",
    "xp.var(x)",
    "xp.std(x, axis=0, correction=1)",
    "xp.max(x, axis=(0,))",
    "xp.min(i, keepdims=True)",
    "xp.max(o)",
    "xp.all(i, axis=1)",
    "xp.any(t)",
    "xp.all(u)",
    "xp.count_nonzero(i, axis=0, keepdims=True)",
    "xp.cumulative_sum(v, include_initial=True)",
    "xp.cumulative_prod(x, axis=1)",
    "xp.cumulative_sum(j, axis=0)",
    "xp.diff(x, n=2)",
    "xp.diff(x, axis=0, prepend=y)",
    "xp.argmax(x, keepdims=True)",
    "xp.argmin(x, axis=1)",
    "xp.nonzero(i)",
    "xp.searchsorted(xp.sort(v), v, side='right')",
    "xp.where(i > 0, i, j)",
    "xp.where(t, 1.5, xp.asarray([2.0, 3.0]))",
    "xp.take(x, k, axis=0)",
    "xp.take_along_axis(x, xp.argsort(x), axis=1)",
    "xp.sort(x, axis=0)",
    "xp.argsort(i, stable=True)",
    "xp.sort(xp.unique_values(i))",
    "xp.unique_counts(i)",
    "xp.unique_inverse(i)",
    "xp.unique_all(i)",
    "xp.concat([x, i])",
    "xp.concat([x, v], axis=None)",
    "xp.stack([f, f + 1], axis=-1)",
    "xp.unstack(x, axis=1)",
    "xp.expand_dims(x, axis=-1)",
    "xp.squeeze(x[:1], axis=0)",
    "xp.flip(x)",
    "xp.flip(x, axis=1)",
    "xp.moveaxis(x, 0, 1)",
    "xp.permute_dims(x, (1, 0))",
    "xp.repeat(x, 2)",
    "xp.repeat(x[:2], k, axis=0)",
    "xp.reshape(x, (2, 6))",
    "xp.roll(x, 1)",
    "xp.roll(x, (1, 2), axis=(0, 1))",
    "xp.tile(v, (2, 1))",
    "xp.broadcast_to(v, (2, 4))",
    "xp.broadcast_arrays(x, v)",
    "xp.meshgrid(v, v + 1)",
    "xp.meshgrid(v, v + 1, indexing='ij')",
    "xp.arange(5)",
    "xp.arange(5, 1)",
    "xp.arange(1, 8, 3)",
    "xp.arange(4.0, 1.0, -0.5)",
    "xp.linspace(0, 1, 4, endpoint=False)",
    "xp.linspace(0, 1, 3)",
    "xp.eye(3, 4, k=1)",
    "xp.eye(3, k=-2)",
    "xp.eye(2, k=7)",
    "xp.full((2,), 3)",
    "xp.full(2, True)",
    "xp.full_like(f, 2)",
    "xp.zeros((2, 3))",
    "xp.tril(x, k=-1)",
    "xp.triu(x, k=1)",
    "xp.asarray([[1, 2], [3, 4]])",
    "xp.asarray(2.5)",
    "xp.ones_like(j)",
    "xp.matmul(x, xp.matrix_transpose(y))",
    "xp.tensordot(x, y, axes=((0, 1), (0, 1)))",
    "xp.tensordot(x, v, axes=1)",
    "xp.vecdot(x, v)",
    "xp.vecdot(z, z)",
    "xp.linalg.det(s)",
    "xp.linalg.inv(s)",
    "xp.linalg.solve(s, b)",
    "xp.linalg.solve(s, b[0, ...])",
    "xp.linalg.diagonal(s, offset=1)",
    "xp.linalg.trace(s, offset=-1)",
    "xp.linalg.trace(i[:, :3])",
    "xp.linalg.matrix_norm(x)",
    "xp.linalg.matrix_norm(x, ord=1, keepdims=True)",
    "xp.linalg.vector_norm(x)",
    "xp.linalg.vector_norm(x, axis=1, ord=1)",
    "xp.linalg.matrix_rank(x)",
    "xp.linalg.matrix_power(s, 3)",
    "xp.linalg.outer(v, v)",
    "xp.linalg.pinv(x)",
    "xp.linalg.slogdet(s)",
    "xp.linalg.svdvals(x)",
    "xp.linalg.cross(s, b)",
    "xp.linalg.eigvalsh(s + s.T)",
    "xp.linalg.cholesky(s @ s.T + 3 * xp.eye(3, dtype=xp.float64))",
    "xp.fft.fft(x)",
    "xp.fft.ifft(z, axis=0)",
    "xp.fft.rfft(x, n=6)",
    "xp.fft.irfft(z, norm='ortho')",
    "xp.fft.fftn(x, axes=(0, 1))",
    "xp.fft.rfftn(x)",
    "xp.fft.hfft(z)",
    "xp.fft.ihfft(v)",
    "xp.fft.fftfreq(5, d=0.5)",
    "xp.fft.rfftfreq(6)",
    "xp.fft.fftshift(x, axes=0)",
    "xp.fft.ifftshift(v)",
]


def _evaluate(expression, namespace, convert):
    scope = {name: convert(value) for name, value in _INPUTS.items()} | {"xp": namespace}
    result = eval(expression, scope)
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_values_and_kinds_are_numpys(expression):
    before = {name: value.copy() for name, value in _INPUTS.items()}
    found = _evaluate(expression, xp, torch.from_numpy)
    expected = _evaluate(expression, np, lambda value: value)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        array = np.asarray(ours)
        assert array.shape == np.shape(theirs)
        # The default floating-point dtype is float32 here, and sums of uint8 are int64: widths may differ
        # from NumPy, kinds may not.
        assert array.dtype.kind == np.asarray(theirs).dtype.kind.replace(
            "u", "u" if array.dtype.kind == "u" else "i"
        )
        single = array.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(
            array, theirs, rtol=1e-6 if single else 1e-12, atol=1e-6 if single else 1e-12
        )
    for name, value in before.items():
        np.testing.assert_array_equal(_INPUTS[name], value)


def test_factorizations_rebuild_their_input():
    x = torch.from_numpy(_INPUTS["x"])
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    torch.testing.assert_close((u * s) @ vh, x)
    q, r = xp.linalg.qr(x)
    torch.testing.assert_close(q @ r, x)
    symmetric = x @ x.mT
    values, vectors = xp.linalg.eigh(symmetric)
    torch.testing.assert_close(vectors @ torch.diag(values) @ vectors.mT, symmetric)
    upper = xp.linalg.cholesky(symmetric, upper=True)
    torch.testing.assert_close(upper.mT @ upper, symmetric)


def test_solve_takes_matrices_for_matrices():
    """torch.linalg.solve would take a 2 x 2 x 2 array for a batch of two vectors."""
    a = torch.eye(2, dtype=torch.float64).repeat(2, 1, 1) * torch.tensor(
        [[[2.0]], [[4.0]]], dtype=torch.float64
    )
    b = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    torch.testing.assert_close(xp.linalg.solve(a, b), torch.stack([b / 2, b / 4]))


def test_zero_dimensional_tensors_take_part_in_promotion():
    narrow = torch.ones(2, dtype=torch.float32)
    wide = torch.tensor(2.0, dtype=torch.float64)
    assert (narrow + wide).dtype == torch.float32  # PyTorch's own rule
    assert xp.add(narrow, wide).dtype == torch.float64
    assert xp.result_type(narrow, wide) == torch.float64
    assert xp.add(torch.ones(2, dtype=torch.int8), 3).dtype == torch.int8


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ((torch.int8, torch.uint8), torch.int16),
        ((torch.float32, 1j), torch.complex64),
        ((torch.bool, 1), torch.int64),
        ((torch.int8, 1), torch.int8),
        ((torch.float64, 1), torch.float64),
        ((torch.complex128, 2.0), torch.complex128),
    ],
)
def test_result_type(arguments, expected):
    assert xp.result_type(*arguments) == expected


@pytest.mark.parametrize(
    "from_, to, expected",
    [
        (torch.int8, torch.int64, True),
        (torch.int64, torch.int8, False),
        (torch.float64, torch.float32, False),
        (torch.uint8, torch.int8, False),
    ],
)
def test_can_cast_follows_promotion(from_, to, expected):
    assert xp.can_cast(from_, to) is expected
    assert xp.can_cast(torch.ones(1, dtype=from_), to) is expected


@pytest.mark.parametrize(
    "dtype, kind, expected",
    [
        (torch.int8, "signed integer", True),
        (torch.uint8, "signed integer", False),
        (torch.uint8, "integral", True),
        (torch.bool, "numeric", False),
        (torch.bool, "bool", True),
        (torch.float32, ("integral", "real floating"), True),
        (torch.complex64, "complex floating", True),
        (torch.complex64, torch.complex64, True),
        (torch.float64, torch.float32, False),
        (torch.float32, "numeric", True),
    ],
)
def test_isdtype(dtype, kind, expected):
    assert xp.isdtype(dtype, kind) is expected


def test_inspection():
    info = xp.__array_namespace_info__()
    assert torch.__array_namespace_info__().default_device() == torch.device("cpu")

    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }

    assert info.default_device() in info.devices()
    assert info.default_dtypes() == {
        "real floating": torch.float32,
        "complex floating": torch.complex64,
        "integral": torch.int64,
        "indexing": torch.int64,
    }
    assert info.dtypes(kind="signed integer") == {
        name: getattr(torch, name) for name in ("int8", "int16", "int32", "int64")
    }
    assert info.dtypes(kind=("bool", "complex floating")) == {
        "bool": torch.bool,
        "complex64": torch.complex64,
        "complex128": torch.complex128,
    }

    for name, dtype in info.dtypes().items():
        assert getattr(xp, name) == dtype

    with pytest.raises(ValueError, match="unrecognized data type kind"):
        info.dtypes(kind="float")


def test_constants_and_version():
    assert xp.__array_api_version__ == "2024.12"
    assert (xp.pi, xp.e, xp.inf, xp.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(xp.nan)


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12"])
def test_versions_that_are_served(version):
    assert torch.ones(1).__array_namespace__(api_version=version) is xp


def test_array_object():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.to_device("cpu") is x
    assert x.to_device("meta").device.type == "meta"
    assert x.mT.shape == (3, 2)
    assert (x.ndim, x.size(), x.device) == (2, torch.Size([2, 3]), torch.device("cpu"))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.__array_namespace__(api_version="1999.1"), ValueError, "1999.1"),
        (lambda x: x.to_device("cpu", stream=3), ValueError, "stream"),
        (lambda x: xp.squeeze(x, 0), ValueError, "size 1"),
        (lambda x: xp.reshape(x.mT, (6,), copy=False), ValueError, "copy"),
        (lambda x: xp.sum(x, axis=2), IndexError, "axis 2"),
        (lambda x: xp.cumulative_sum(x), ValueError, "axis"),
        (lambda x: xp.take(x, torch.tensor([0])), ValueError, "axis"),
        (lambda x: xp.nonzero(x[0, 0]), ValueError, "dimension"),
        (lambda x: xp.matrix_transpose(x[0]), ValueError, "2 dimensions"),
        (lambda x: xp.vecdot(x, x[:, :2]), ValueError, "same size"),
        (lambda x: xp.add(1, 2), TypeError, "at least one array"),
        (lambda x: xp.add(x, "a"), TypeError, "str"),
        (lambda x: xp.result_type(1, 2.0), ValueError, "at least one"),
        (lambda x: xp.result_type("a"), TypeError, "str"),
        (lambda x: xp.isdtype(torch.int8, "float"), ValueError, "'float'"),
        (lambda x: xp.isdtype("int8", "integral"), TypeError, "dtype"),
        (lambda x: xp.isdtype(torch.int8, 3), TypeError, "kind"),
        (lambda x: xp.asarray([1, 2], copy=False), ValueError, "alias"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.arange(6.0).reshape(2, 3))


def test_asarray_copies_when_asked():
    array = np.zeros(3)
    assert xp.asarray(array, copy=True).data_ptr() != array.ctypes.data
    assert xp.asarray(array).data_ptr() == array.ctypes.data
    x = torch.zeros(3)
    assert xp.astype(x, torch.float32, copy=False) is x
    assert xp.astype(x, torch.float32).data_ptr() != x.data_ptr()
    assert xp.reshape(x, (3, 1), copy=True).data_ptr() != x.data_ptr()
