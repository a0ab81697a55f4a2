"""`assert_close`: structures of tensors and numbers, compared element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.testing._tolerances import default_tolerances, dtype_of_number

_NUMBERS = (bool, int, float, complex)


class _Comparison:
    """Settings of one call; `path` tells where in a structure the two values are."""

    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        allow_subclasses: bool,
        equal_nan: bool,
        checks: dict[str, bool],
        msg: Any,
    ) -> None:
        if (rtol is None) != (atol is None):
            missing = "rtol" if rtol is None else "atol"
            raise ValueError(
                f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
            )

        self.rtol = rtol
        self.atol = atol
        self.allow_subclasses = allow_subclasses
        self.equal_nan = equal_nan
        self.checks = checks
        self.msg = msg

    def fail(self, message: str, path: tuple[Any, ...], kind: type[Exception] = AssertionError) -> None:
        if path:
            place = "".join(f"[{item!r}]" for item in path)
            message += f"\n\nThe failure occurred for item {place}"
        if callable(self.msg):
            message = self.msg(message)
        elif self.msg is not None:
            message = self.msg
        raise kind(message)

    def tolerances(self, *dtypes: Any) -> tuple[float, float]:
        if self.rtol is None or self.atol is None:
            return default_tolerances(*dtypes)
        return self.rtol, self.atol

    def compare(self, actual: Any, expected: Any, path: tuple[Any, ...] = ()) -> None:
        # By kind, containers first: what is not a container or a number becomes a tensor.
        if isinstance(actual, str) or isinstance(expected, str):
            self.fail(
                f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.",
                path,
                TypeError,
            )
        elif isinstance(actual, Sequence) and isinstance(expected, Sequence):
            self._compare_sequences(actual, expected, path)
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            self._compare_mappings(actual, expected, path)
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"None mismatch: {actual} is not {expected}", path)
        elif isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
            self._compare_numbers(actual, expected, path)
        else:
            self._compare_tensors(
                self._as_tensor(actual, expected, path), self._as_tensor(expected, actual, path), path
            )

    def _as_tensor(self, value: Any, other: Any, path: tuple[Any, ...]) -> Any:
        if isinstance(value, Tensor):
            if type(value) is not type(other) and not (self.allow_subclasses and isinstance(other, Tensor)):
                self.fail(
                    f"Except for Python scalars, type equality is required, but got {type(value)} and "
                    f"{type(other)}.",
                    path,
                    TypeError,
                )
            return value

        if isinstance(value, str) or type(value) is not type(other):
            self.fail(
                f"Except for Python scalars, type equality is required, but got {type(value)} and "
                f"{type(other)}.",
                path,
                TypeError,
            )

        try:
            return _C.as_tensor(value)
        except Exception:
            raise TypeError(
                f"No comparison pair was able to handle inputs of type {type(value)} and {type(other)}."
            ) from None

    def _compare_sequences(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
        if len(actual) != len(expected):
            self.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        for position, (left, right) in enumerate(zip(actual, expected)):
            self.compare(left, right, (*path, position))

    def _compare_mappings(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
        missing = sorted(set(expected) - set(actual), key=repr)
        additional = sorted(set(actual) - set(expected), key=repr)
        if missing or additional:
            self.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: "
                f"{additional}",
                path,
            )
        for key in actual:
            self.compare(actual[key], expected[key], (*path, key))

    def _compare_numbers(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
        if isinstance(actual, bool) and isinstance(expected, bool):
            if actual is not expected:
                self.fail(f"Booleans mismatch: {actual} is not {expected}", path)
            return

        if self.checks["dtype"] and dtype_of_number(actual) != dtype_of_number(expected):
            self.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)

        rtol, atol = self.tolerances(dtype_of_number(actual), dtype_of_number(expected))
        both_nan = self.equal_nan and actual != actual and expected != expected
        if actual == expected or both_nan:
            return

        difference = abs(actual - expected)
        if difference <= atol + rtol * abs(expected) and difference != float("inf"):
            return

        if rtol == 0 and atol == 0:
            self.fail(
                f"Scalars are not equal!\n\nExpected {expected} but got {actual}.\n"
                + _scalar_differences(difference, expected, "", ""),
                path,
            )

        bounds = f" (up to {atol} allowed)", f" (up to {rtol} allowed)"
        self.fail(
            f"Scalars are not close!\n\nExpected {expected} but got {actual}.\n"
            + _scalar_differences(difference, expected, *bounds),
            path,
        )

    def _compare_tensors(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
        self._compare_attributes(actual, expected, path)
        rtol, atol = self.tolerances(actual.dtype, expected.dtype)

        left = actual.detach()
        right = expected.detach()
        if left.is_meta or right.is_meta:
            return  # without values there is nothing more to compare

        if left.dtype != right.dtype:
            common = _C.promote_types(left.dtype, right.dtype)
            left, right = left.to(common), right.to(common)

        if left.dtype.itemsize == 1 and left.dtype.is_floating_point:  # these have no arithmetic
            if rtol != 0 or atol != 0:
                self.fail(
                    f"Rtol={rtol} and atol={atol} are not supported for bitwise comparison of low "
                    "dimensional floats. "
                    f"Please use rtol=0.0 and atol=0.0.",
                    path,
                )
            left, right = left.float(), right.float()

        close = _torch.isclose(left, right, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if not bool(close.all()):
            self.fail(_tensor_message(left, right, close, rtol, atol), path)

    def _compare_attributes(self, actual: Any, expected: Any, path: tuple[Any, ...]) -> None:
        def require(name: str, left: Any, right: Any) -> None:
            if left != right:
                self.fail(f"The values for attribute '{name}' do not match: {left} != {right}.", path)

        require("shape", actual.shape, expected.shape)
        if self.checks["layout"]:
            require("layout", actual.layout, expected.layout)
        if self.checks["device"]:
            require("device", actual.device, expected.device)
        if self.checks["dtype"]:
            require("dtype", actual.dtype, expected.dtype)
        if self.checks["stride"]:
            require("stride()", actual.stride(), expected.stride())


def _scalar_differences(difference: float, expected: Any, absolute_bound: str, relative_bound: str) -> str:
    relative = difference / abs(expected) if expected != 0 else float("inf")
    return (
        f"Absolute difference: {difference}{absolute_bound}\nRelative difference: {relative}{relative_bound}"
    )


def _tensor_message(actual: Any, expected: Any, close: Any, rtol: float, atol: float) -> str:
    """Counts of what differs, and the largest differences with their places."""
    is_scalar = actual.dim() == 0
    exact = rtol == 0 and atol == 0
    what = "Scalars" if is_scalar else "Tensor-likes"
    title = f"{what} are not {'equal' if exact else 'close'}!\n\n"

    wide = _C.complex128 if actual.is_complex() else (_C.float64 if actual.is_floating_point() else _C.int64)
    left = actual.to(wide)
    right = expected.to(wide)
    difference = (left - right).abs()
    size = right.abs()
    absolute_bound, relative_bound = (
        ("", "") if exact else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    )

    if is_scalar:
        values = f"Expected {expected.item()} but got {actual.item()}.\n"
        return (
            title
            + values
            + _scalar_differences(difference.item(), size.item(), absolute_bound, relative_bound)
        )

    count = int((close == 0).sum().item())
    total = actual.numel()
    relative = _torch.where(close, _torch.zeros_like(difference), difference) / size
    shown = _torch.where(close, _torch.zeros_like(difference), difference)
    lines = [f"Mismatched elements: {count} / {total} ({count / total:.1%})"]

    for name, differences, bound in (
        ("absolute", shown, absolute_bound),
        ("relative", relative, relative_bound),
    ):
        lines.append(
            f"Greatest {name} difference: {_largest(differences, ignore_nan=name == 'relative')}{bound}"
        )

    return title + "\n".join(lines)


def _largest(differences: Any, ignore_nan: bool) -> str:
    """The largest number and its place. A relative difference is nan where both sides are zero."""
    if ignore_nan and differences.is_floating_point():
        differences = _torch.where(differences != differences, _torch.zeros_like(differences), differences)
    flat = differences.reshape(-1)
    index = int(flat.argmax().item())
    return f"{flat[index].item()} at index {_unravel(index, tuple(differences.shape))}"


def _unravel(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place = []
    for size in reversed(shape):
        index, position = divmod(index, size)
        place.append(position)
    return tuple(reversed(place))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| for all elements, and
    shapes, dtypes, ... agree.

    Takes tensors, NumPy arrays, numbers, and sequences and mappings of them. Tolerances not given follow from
    the dtypes: float16 (1e-3, 1e-5), bfloat16 (1.6e-2, 1e-5), float32 (1.3e-6, 1e-5), float64 (1e-7, 1e-7),
    complex as their parts, others (0, 0). Raises ValueError for one tolerance without the other, TypeError
    for types that do not compare.
    """
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}
    _Comparison(rtol, atol, allow_subclasses, equal_nan, checks, msg).compare(actual, expected)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older function: converts to tensors, ignores dtypes."""
    left = actual if isinstance(actual, Tensor) else _C.tensor(actual)
    right = expected if isinstance(expected, Tensor) else _C.tensor(expected, dtype=left.dtype)

    assert_close(
        left,
        right,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )
