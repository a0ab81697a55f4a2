"""Counts the floating-point operations (flops) of matrix products, convolutions and attention.

They are counted below autograd, where the operators of backward are like any others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from torch_py._ops import ops
from torch_py._tensor import Tensor
from torch_py.utils._flop_formulas import work_of
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

# The formula of each operator (torch.ops.aten.mm): flops(*shapes and other arguments, out_shape=...).
flop_registry: dict[Any, Callable[..., int]] = {}


def _shapes(value: Any) -> Any:
    """Returns `value` with shapes in place of tensors, in tuples and lists, too."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, (tuple, list)):
        if hasattr(value, "_fields"):
            return tuple(map(_shapes, value))
        return type(value)(_shapes(item) for item in value)
    return value


def register_flop_formula(
    targets: Any, get_raw: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorates a function that computes the flops of `targets`, operators such as `torch.ops.mylib.myop`.

    It receives the arguments of the call, with shapes in place of tensors, and `out_shape`; with `get_raw` it
    receives the tensors and `out_val`.
    """
    wanted = tuple(targets) if isinstance(targets, (tuple, list)) else (targets,)

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        def flops(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
            if get_raw:
                return formula(*args, **kwargs, out_val=out_val)
            keywords = {name: _shapes(value) for name, value in kwargs.items()}
            return formula(*_shapes(args), **keywords, out_shape=_shapes(out_val))

        for target in wanted:
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = flops
        return formula

    return register


@register_flop_formula(ops.aten.mm)
def mm_flop(
    a_shape: Sequence[int], b_shape: Sequence[int], *args: Any, out_shape: Any = None, **kwargs: Any
) -> int:
    """2 n m k for matrices (n, m) and (m, k)."""
    return 2 * a_shape[0] * a_shape[1] * b_shape[1]


@register_flop_formula(ops.aten.addmm)
def addmm_flop(
    self_shape: Any, a_shape: Sequence[int], b_shape: Sequence[int], out_shape: Any = None, **kwargs: Any
) -> int:
    """2 n m k, like `mm_flop`: with the added element, k products take k additions."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(ops.aten.bmm)
def bmm_flop(a_shape: Sequence[int], b_shape: Sequence[int], out_shape: Any = None, **kwargs: Any) -> int:
    """`mm_flop` for each matrix of a batch."""
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


@register_flop_formula(ops.aten.baddbmm)
def baddbmm_flop(
    self_shape: Any, a_shape: Sequence[int], b_shape: Sequence[int], out_shape: Any = None, **kwargs: Any
) -> int:
    """Like `bmm_flop`: with the added element, k products take k additions."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(
    x_shape: Sequence[int], w_shape: Sequence[int], out_shape: Sequence[int], transposed: bool = False
) -> int:
    """Two flops for each weight at each position of the result, or of the input if `transposed`."""
    return 2 * x_shape[0] * prod((x_shape if transposed else out_shape)[2:]) * prod(w_shape)


def sdpa_flop_count(query_shape: Sequence[int], key_shape: Sequence[int], value_shape: Sequence[int]) -> int:
    """The flops of the products query · keyᵀ and softmax · value; those of the softmax are not counted."""
    *batch, queries, width = query_shape
    return 2 * prod(batch) * queries * key_shape[-2] * (width + value_shape[-1])


def sdpa_backward_flop_count(
    query_shape: Sequence[int], key_shape: Sequence[int], value_shape: Sequence[int]
) -> int:
    """The flops of the gradients of scores, query, key and value; the scores are computed again."""
    *batch, queries, width = query_shape
    return 2 * prod(batch) * queries * key_shape[-2] * (3 * width + 2 * value_shape[-1])


class FlopCounterMode(TorchDispatchMode):
    """Counts flops inside of ``with FlopCounterMode() as counter:``.

    Matrix products, `linear`, convolutions and attention are counted, forward and backward; a multiplication
    and an addition are two flops. `custom_mapping` has formulas of more operators, which receive the
    arguments of the call and `out_val`. With `display` a table of the modules to `depth` levels is printed at
    the end. `mods` is ignored.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        super().__init__()
        self.depth = depth
        self.display = display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.flop_registry = {**flop_registry, **(custom_mapping or {})}
        self.mod_tracker = ModuleTracker()

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._count(func, args, kwargs, result)
        return result

    def _count(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        parents = frozenset(self.mod_tracker.parents)
        operator = func.overloadpacket if func.overloadpacket in self.flop_registry else func

        work = work_of(func.overloadpacket.__name__, args, kwargs, result)
        if not work and operator in self.flop_registry:
            self._add(parents, operator, self.flop_registry[operator](*args, **kwargs, out_val=result))
            return

        for name, arguments in work:
            # The backward of attention counts as attention.
            if name == "scaled_dot_product_attention_backward":
                flops = sdpa_backward_flop_count(*arguments)
                self._add(parents, ops.aten.scaled_dot_product_attention, flops)
                continue
            counted = getattr(ops.aten, name)
            self._add(parents, counted, self.flop_registry[counted](*arguments))

    def _add(self, parents: frozenset[str], operator: Any, flops: int) -> None:
        for parent in parents:
            self.flop_counts[parent][operator] += flops

    def get_total_flops(self) -> int:
        """Returns the total number of flops."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Returns the flops by name of the module ("Global" for the whole program) and by operator."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Returns a table of the flops and shares of modules, to `depth` levels, and their operators."""
        deepest = self.depth if depth is None else depth
        total = self.get_total_flops()
        rows = [("Module", "FLOP", "% Total")]
        names = [name for name in self.flop_counts if name != "Global" and name.count(".") < deepest]

        for name in ["Global", *sorted(names)]:
            counts = self.flop_counts[name]
            of_module = sum(counts.values())
            indent = " " * (name.count(".") + (name != "Global"))
            rows.append((indent + name, _short(of_module), _percent(of_module, total)))
            rows += [
                (f"{indent} - aten.{_name_of(operator)}", _short(flops), _percent(flops, total))
                for operator, flops in counts.items()
            ]

        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _name_of(operator: Any) -> str:
    return str(getattr(operator, "__name__", operator))


def _short(number: int) -> str:
    """Returns the number with a suffix for thousands, millions, billions or trillions: 1.500K."""
    power = min(len(str(number)) - 1, 14) // 3
    return f"{number / 1000**power:.3f}{('', 'K', 'M', 'B', 'T')[power]}" if power else str(number)


def _percent(number: int, total: int) -> str:
    return f"{number / total:.2%}" if total else "0%"


def _register_convolutions_and_attention() -> None:
    """Registers formulas that take the shapes of `_flop_formulas` instead of the arguments of a call."""

    def convolution(
        x: Any, w: Any, out: Any, transposed: bool = False, out_val: Any = None, **kwargs: Any
    ) -> int:
        return conv_flop_count(x, w, out, transposed)

    def attention(query: Any, key: Any, value: Any, out_val: Any = None, **kwargs: Any) -> int:
        return sdpa_flop_count(query, key, value)

    flop_registry[ops.aten.convolution] = convolution
    flop_registry[ops.aten.convolution_backward] = convolution
    flop_registry[ops.aten.scaled_dot_product_attention] = attention


_register_convolutions_and_attention()
