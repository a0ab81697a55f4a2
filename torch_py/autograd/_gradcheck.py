"""`gradcheck` and `gradgradcheck`, which compare recorded derivatives with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._functorch.engine import gradients as gradients_of_any_level
from torch_py._tensor import Tensor
from torch_py.autograd import _as_tuple, grad
from torch_py.autograd import _jacobians as jacobians
from torch_py.autograd.grad_mode import enable_grad


class GradcheckError(RuntimeError):
    """Raised when the derivatives of a function are wrong."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Checks the recorded derivatives of `func` at `inputs` against central differences,
    (f(x + eps) - f(x - eps)) / (2 eps).

    Every input that requires grad is checked against every output; elements may differ by `atol + rtol *
    |numerical|`. These inputs should be float64 or complex128. `fast_mode` compares one random combination of
    each Jacobian. Gradients must also be the same twice (within `nondet_tol`), have the shapes of the inputs
    and, with `check_grad_dtypes`, their dtypes. `check_forward_ad` also compares the derivatives of forward
    mode, `check_batched_forward_grad` those under vmap, and `check_batched_grad` batches of gradients.

    Returns True. A mismatch raises GradcheckError, a RuntimeError, or returns False if `raise_exception` is
    False. Unusable inputs always raise ValueError or RuntimeError.

    Args:
        func: a function of tensors
        inputs: the point, tensors of float64 that require gradients
        eps: the step of the differences; default 1e-6
        atol, rtol: the tolerances; default 1e-5 and 1e-3
        raise_exception: whether a difference is an error instead of False; default True
        nondet_tol: how much two backward passes may differ; default 0.0
        check_undefined_grad: whether backward is tried with missing gradients; default True
        check_grad_dtypes: whether gradients must have the dtypes of their inputs; default False
        check_batched_grad: whether backward is compared with a batch of gradients; default False
        check_batched_forward_grad: the same for forward mode; default False
        check_forward_ad: whether forward mode is checked; default False
        check_backward_ad: whether reverse mode is checked; default True
        fast_mode: whether random directions are compared instead of all elements; default False
        masked: must not be True, as it is for sparse tensors; default None

    Example:
        >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, x)
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "gradcheck: Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise ValueError("gradcheck: Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError(
            "gradcheck: Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )

    arguments = _as_tuple(inputs)
    check = _Check(func, arguments, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        if check_backward_ad:
            check.run(fast_mode)
        if check_forward_ad:
            check.run_forward(fast_mode, check_batched_forward_grad)
        if check_batched_grad:
            check.run_batched()
    except GradcheckError:
        if raise_exception:
            raise
        return False

    return True


class _Check:
    """One check: the function, its inputs and the tolerances."""

    def __init__(
        self,
        func: Callable[..., Any],
        arguments: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
        check_dtypes: bool,
    ) -> None:
        self.func = func
        self.arguments = arguments
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.check_dtypes = check_dtypes

        self.positions = [
            position
            for position, item in enumerate(arguments)
            if isinstance(item, Tensor) and item.requires_grad
        ]

        self.sources = [arguments[position] for position in self.positions]
        _check_inputs(self.positions, self.sources)

    def evaluate(self) -> tuple[Any, ...]:
        """All outputs of the function."""
        with enable_grad():
            return _as_tuple(self.func(*self.arguments))

    def floating_outputs(self) -> tuple[Any, ...]:
        """The outputs that are floating-point or complex tensors."""
        return tuple(
            item
            for item in self.evaluate()
            if isinstance(item, Tensor) and (item.is_floating_point() or item.is_complex())
        )

    def run(self, fast: bool) -> None:
        """Checks backward mode."""
        outputs = self.floating_outputs()
        if any(output.is_sparse for output in outputs):
            raise ValueError("gradcheck: expected dense outputs; return .to_dense() from the function")

        differentiable = [number for number, output in enumerate(outputs) if output.requires_grad]
        for number, output in enumerate(outputs):
            # A detached output may change with the inputs. If all outputs are detached, the function was
            # probably meant to be differentiable.
            if not differentiable:
                self._check_constant(number, len(outputs))
            elif output.requires_grad and output.numel() > 0:
                self._check_gradients(number, output)

        for source, position in zip(self.sources, self.positions):
            if source.numel() > 0 and differentiable:
                (self._compare_fast if fast else self._compare)(outputs, differentiable, source, position)

    def _check_constant(self, number: int, count: int) -> None:
        for source, position in zip(self.sources, self.positions):
            matrix = jacobians.numerical(self.floating_outputs, source, count, self.eps)[number]
            if matrix is not None and matrix.numel() and matrix.abs().max().item() > self.atol:
                raise GradcheckError(
                    f"Numerical gradient for function expected to be zero: output {number} does not require "
                    f"grad but changes with input {position}:\n{matrix}"
                )

    def _compare(
        self, outputs: tuple[Any, ...], differentiable: list[int], source: Any, position: int
    ) -> None:
        expected = jacobians.numerical(self.floating_outputs, source, len(outputs), self.eps)
        for number in differentiable:
            if outputs[number].numel() == 0:
                continue

            matrix, gradients = jacobians.analytical(outputs[number], [source])[0]
            again = jacobians.analytical(outputs[number], [source])[0][0]
            self._check_metadata(gradients, source, position)
            if not _close(matrix, expected[number], self.atol, self.rtol):
                raise GradcheckError(
                    _mismatch(number, position, expected[number], matrix, self.atol, self.rtol)
                )
            self._check_same(matrix, again)

    def _compare_fast(
        self, outputs: tuple[Any, ...], differentiable: list[int], source: Any, position: int
    ) -> None:
        direction = jacobians.random_direction(source)
        expected = jacobians.numerical_along(self.floating_outputs, source, direction, self.eps)
        for number in differentiable:
            weight = jacobians.random_direction(outputs[number])
            numerical = (expected[number] * jacobians.real_parts(weight)).sum()
            gradients = [
                grad(outputs[number], source, weight, retain_graph=True, allow_unused=True)[0]
                for _ in range(2)
            ]
            self._check_metadata(gradients, source, position)
            analytical, again = (
                (jacobians._column(item, source) * jacobians.real_parts(direction)).sum()
                for item in gradients
            )

            # A combination of n elements may differ by as much as n elements together.
            atol = self.atol * (jacobians.real_size(source) * jacobians.real_size(outputs[number])) ** 0.5
            if not _close(analytical, numerical, atol, self.rtol):
                note = (
                    "(fast_mode: one random combination of the Jacobian; run with fast_mode=False to see "
                    "the elements)"
                )
                raise GradcheckError(
                    _mismatch(number, position, numerical, analytical, atol, self.rtol) + "\n" + note
                )

            self._check_same(analytical, again)

    def run_forward(self, fast: bool, batched: bool) -> None:
        """Checks the derivatives of forward mode."""
        count = len(self.floating_outputs())
        for source, position in zip(self.sources, self.positions):
            if source.numel() == 0 or count == 0:
                continue

            directions = [jacobians.random_direction(source)] if fast else jacobians.basis(source)
            if fast:
                along = jacobians.numerical_along(self.floating_outputs, source, directions[0], self.eps)
                expected = [matrix.unsqueeze(0) for matrix in along]
            else:
                expected = jacobians.numerical(self.floating_outputs, source, count, self.eps)

            for in_batch in (False, True) if batched else (False,):
                found = jacobians.tangents(self.func, self.arguments, position, directions, in_batch)
                for number in range(count):
                    matrix = _torch.stack([jacobians.real_parts(moved[number]) for moved in found])
                    if not _close(matrix, expected[number], self.atol, self.rtol):
                        kind = "forward mode, under vmap" if in_batch else "forward mode"
                        text = _mismatch(number, position, expected[number], matrix, self.atol, self.rtol)
                        raise GradcheckError(f"{text}\n(analytical: by {kind})")

    def run_batched(self) -> None:
        """Compares a batch of two gradients with the two gradients computed separately."""
        for number, output in enumerate(self.floating_outputs()):
            if not output.requires_grad:
                continue

            weights = _torch.stack([jacobians.random_direction(output) for _ in range(2)])
            together = grad(output, self.sources, weights, True, allow_unused=True, is_grads_batched=True)
            for row in range(2):
                alone = grad(output, self.sources, weights[row], True, allow_unused=True)
                for position, batch, one in zip(self.positions, together, alone):
                    is_missing = (batch is None) != (one is None)
                    if is_missing or (one is not None and not _close(batch[row], one, self.atol, self.rtol)):
                        raise GradcheckError(
                            f"batched gradients of output {number} by input {position} are not what one "
                            "after the other gives"
                        )

    def _check_metadata(self, gradients: list[Any], source: Any, position: int) -> None:
        for gradient in gradients:
            if gradient is None:
                continue

            if tuple(gradient.shape) != tuple(source.shape):
                raise GradcheckError(
                    f"grad is incorrect size: input {position} has shape {tuple(source.shape)}, its "
                    f"gradient {tuple(gradient.shape)}"
                )
            if self.check_dtypes and gradient.dtype != source.dtype:
                raise GradcheckError(
                    f"grad has incorrect dtype: input {position} has {source.dtype}, its gradient "
                    f"{gradient.dtype}"
                )

    def _check_same(self, first: Any, second: Any) -> None:
        difference = (first - second).abs().max().item() if first.numel() else 0.0
        if difference > self.nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                "times gives different values, although analytical gradient matches numerical gradient. The "
                f"tolerance for nondeterminism was {self.nondet_tol}, the difference {difference}."
            )

    def _check_gradients(self, number: int, output: Any) -> None:
        """Checks that a gradient of zeros for an output gives zeros, or nothing, for the inputs."""
        with enable_grad():
            found = grad(
                output,
                self.sources,
                _torch.zeros_like(output, requires_grad=False),
                retain_graph=True,
                allow_unused=True,
            )

        for gradient, position in zip(found, self.positions):
            if gradient is not None and not (gradient == 0).all().item():
                raise GradcheckError(
                    f"backward not multiplied by grad_output: zeros for output {number} give {gradient} for "
                    f"input {position}"
                )


def _check_inputs(positions: list[int], sources: list[Any]) -> None:
    if not sources:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )

    for position, source in zip(positions, sources):
        if source.dtype not in (_C.float64, _C.complex128):
            warnings.warn(
                f"Input #{position} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double precision floating "
                "point or complex.",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(source.stride(), source.shape)):
            raise RuntimeError(
                f"gradcheck: input {position} has elements that share memory (strides {source.stride()}), "
                "so that one cannot be changed alone; pass .contiguous()"
            )


def _close(value: Any, expected: Any, atol: float, rtol: float) -> bool:
    difference = (value - expected).abs()
    bound = atol + rtol * expected.abs()
    same = (difference <= bound) | (value == expected) | ((value != value) & (expected != expected))
    return bool(same.all().item())


def _mismatch(output: int, position: int, numerical: Any, analytical: Any, atol: float, rtol: float) -> str:
    largest = (numerical - analytical).abs().max().item()
    return (
        f"Jacobian mismatch for output {output} with respect to input "
        f"{position},\nnumerical:{numerical}\nanalytical:{analytical}\n"
        f"largest difference {largest:.3g}, allowed {atol:.3g} + {rtol:.3g} * |numerical|"
    )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Checks the gradients of `func` with `gradcheck`, as functions of `inputs` and of `grad_outputs`, which
    are random by default.

    Args:
        func: a function of tensors
        inputs: the point, tensors of float64 that require gradients
        grad_outputs: the weights of the outputs; default None, random
        eps: the step of the differences; default 1e-6
        atol, rtol: the tolerances; default 1e-5 and 1e-3
        gen_non_contig_grad_outputs: whether random weights have gaps in memory; default False
        raise_exception: whether a difference is an error instead of False; default True
        nondet_tol: how much two backward passes may differ; default 0.0
        check_undefined_grad: whether backward is tried with missing gradients; default True
        check_grad_dtypes: whether gradients must have the dtypes of their inputs; default False
        check_batched_grad: whether backward is compared with a batch of gradients; default False
        check_fwd_over_rev: whether forward mode over reverse mode is checked; default False
        check_rev_over_rev: whether reverse mode over reverse mode is checked; default True
        fast_mode: whether random directions are compared instead of all elements; default False
        masked: must be False, as True is for sparse tensors; default False

    Example:
        >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(torch.sin, x)
        True
    """
    arguments = _as_tuple(inputs)
    with enable_grad():
        outputs = _differentiable(_as_tuple(func(*arguments)))

    if grad_outputs is None:
        weights = tuple(_random_weight(output, gen_non_contig_grad_outputs) for output in outputs)
    else:
        weights = tuple(item.detach().requires_grad_() for item in _as_tuple(grad_outputs))

    def gradients(*everything: Any) -> tuple[Any, ...]:
        values = everything[: len(arguments)]
        given = everything[len(arguments) :]
        sources = [item for item in values if isinstance(item, Tensor) and item.requires_grad]
        # In forward over reverse the values carry tangents.
        with enable_grad():
            found = gradients_of_any_level(_differentiable(_as_tuple(func(*values))), sources, given, True)
        return tuple(item for item in found if item is not None)

    return gradcheck(
        gradients,
        arguments + weights,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


def _differentiable(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item for item in outputs if isinstance(item, Tensor) and item.requires_grad)


def _random_weight(output: Any, strided: bool) -> Tensor:
    if strided and output.dim() > 0:
        doubled = _torch.randn((*output.shape, 2), dtype=output.dtype, device=output.device)
        return doubled.select(-1, 0).detach().requires_grad_()
    weight = _torch.randn(tuple(output.shape), dtype=output.dtype, device=output.device)
    return weight.requires_grad_()
