"""Nodes of the backward graph and the autograd kernels that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codegen.expressions import cpp_formula, needs
from codegen.expressions.needs import Needs
from codegen.expressions.nodes import Call, Index, Name, Node, Number
from codegen.model import Derivative, Formula, Operator, Program
from codegen.remembered import cached_property, remembered
from codegen.schema import Argument
from codegen.targets.torch_py.analysis.functions import Function, functions_of
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.analysis.implied_operators import MISSING
from codegen.targets.torch_py.analysis.kernels import autograd_keys
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.emit.saved import Saved, SavedTensor, saved_values


class Gradient(NamedTuple):
    """One formula, for one input or, with the kind ``tuple``, for several."""

    inputs: tuple[str, ...]
    value: str  # in C++
    kind: str  # tensor, list, tuple, zero, view or missing
    edges: tuple[str, ...]  # expressions for the numbers of the inputs' edges
    reduces: bool  # summed to the input's shape
    grads: tuple[int, ...]  # gradients without which there is nothing to do
    materialized: tuple[int, ...]  # gradients that are zeros when undefined
    any_of: tuple[int, ...] = ()  # gradients of which one is enough, as the formula is a call that takes None

    @property
    def conditions(self) -> list[str]:
        """For each input, whether its gradient is wanted."""
        return [f"should_compute_output({edge})" for edge in self.edges]

    @property
    def is_any_defined(self) -> str:
        return " || ".join(f"grads[{i}].defined()" for i in self.any_of)


@dataclass(frozen=True)
class NodeClass:
    """A class derived from Node, and the operator it belongs to."""

    name: str
    operator: Operator
    place: str
    functions: tuple[Function, ...]
    edges: tuple[Argument, ...]  # tensor arguments with a gradient, in schema order
    gradients: tuple[Gradient, ...]
    saved: tuple[Saved, ...]
    tensors: tuple[SavedTensor, ...]
    infos: tuple[str, ...]  # inputs whose sizes and dtype are kept

    @property
    def keys(self) -> str:
        """The dispatch keys that its functions serve."""
        return autograd_keys(self.operator)

    @property
    def edge_names(self) -> list[str]:
        return [a.name for a in self.edges]

    @property
    def lists(self) -> list[str]:
        return [a.name for a in self.edges if a.type.is_list]

    @property
    def edge_count(self) -> str:
        single = len(self.edges) - len(self.lists)
        return " + ".join(
            [*([str(single)] if single or not self.lists else []), *(f"{name}_size_" for name in self.lists)]
        )

    @property
    def outputs(self) -> int:
        return len(self.operator.schema.returns)

    @property
    def has_list_output(self) -> bool:
        return any(r.type.is_list for r in self.operator.schema.returns)

    @cached_property
    def base(self) -> str:
        """The argument that the results are views of; empty unless the operator is a view."""
        if self.operator.structure != "view":
            return ""
        return self.operator.tensor_arguments[0].name

    @property
    def joins_gradients(self) -> bool:
        """Whether its formulas take the gradients of a list of results, of which some may be undefined."""
        return self.has_list_output and any(g.kind not in ("view", "list", "tuple") for g in self.gradients)

    @property
    def view_arguments(self) -> list[str]:
        """The arguments for replaying a view on the gradient."""
        return ["gradient" if name == self.base else name for name in self.operator.schema.arguments.names()]

    @property
    def has_single_gradient(self) -> bool:
        """Whether ``grads`` has exactly one element, which formulas call ``grad``."""
        return self.outputs == 1 and not self.has_list_output

    @property
    def saved_arguments(self) -> list[Saved]:
        return [saved for saved in self.saved if saved.is_argument]

    @property
    def saved_names(self) -> list[str]:
        return [*(tensor.name for tensor in self.tensors), *(saved.name for saved in self.saved)]

    @property
    def materialized(self) -> list[int]:
        """Gradients that are zeros when undefined, because a formula needs several at once."""
        return list(dict.fromkeys(i for g in self.gradients for i in g.materialized))

    def output(self, position: int) -> str:
        """One of the operator's results, given them all as ``result``."""
        return "result" if self.outputs == 1 else f"std::get<{position}>(result)"

    def condition(self, tensor: SavedTensor) -> str:
        """``if (...) `` where only some of the gradients need the value, else nothing."""
        if self.lists or len(tensor.inputs) == len(self.edges):
            return ""
        edges = [self.edge_names.index(name) for name in tensor.inputs]
        return f"if ({' || '.join(f'node->should_compute_output({edge})' for edge in edges)}) "


def node_classes(
    operators: Sequence[Operator], names: Mapping[str, str], program: Program
) -> list[NodeClass]:
    """One node for each operator with a gradient, and for in-place forms of those without one.

    In place, even a non-differentiable operator needs a node: it overwrites ``self``, whose gradient is zero.
    """
    found = []
    for operator in operators:
        name = names[operator.unambiguous_name]
        if gradient_kind(operator) == "node":
            found.append(_node_class(operator, name, program, functions_of(operator)))
        elif gradient_kind(operator) == "none" and operator.has_inplace:
            found.append(_node_class(_forgetful(operator), name, program, functions_of(operator)[1:2]))
    return found


def _forgetful(operator: Operator) -> Operator:
    """``operator`` with a gradient of zero for self."""
    zero = Derivative(("self",), Formula("0", Number(0), operator.location), operator.location)
    return operator.changed(derivatives=(zero,), non_differentiable=None)


@remembered
def node_names(program: Program) -> dict[str, str]:
    """Unambiguous name -> AddBackward0: overloads of a name are counted in file order."""
    count: dict[str, int] = {}
    found = {}
    for operator in program:
        stem = operator.schema.name.name.base
        title = "".join(part.title() for part in stem.split("_"))
        number = count.get(title, 0)
        count[title] = number + 1
        found[operator.unambiguous_name] = f"{title}Backward{number}"
    return found


def _node_class(
    operator: Operator, name: str, program: Program, functions: tuple[Function, ...]
) -> NodeClass:
    derivatives = [d for d in _derivatives(operator) if d.formula is not None]
    differentiable = {n for d in derivatives for n in d.inputs}
    edges = tuple(a for a in operator.schema.arguments.flat_all if a.name in differentiable)
    needed = [needs(d.formula.node, operator) for d in derivatives if d.formula is not None]
    saved, tensors = saved_values(operator, derivatives, needed, is_replayed_view(operator))
    gradients = tuple(_gradient(operator, d, used, edges, program) for d, used in zip(derivatives, needed))
    infos = [n for g in gradients for n in g.inputs if g.reduces or g.kind in ("zero", "view")]

    place = place_of(operator)
    return NodeClass(name, operator, place, functions, edges, gradients, saved, tensors, tuple(infos))


def _derivatives(operator: Operator) -> tuple[Derivative, ...]:
    """The operator's derivatives; a view without formulas is replayed instead."""
    if not is_replayed_view(operator):
        return operator.derivatives
    formula = Formula("the gradient, written through the same view of zeros", MISSING, operator.location)
    return (Derivative((operator.tensor_arguments[0].name,), formula, operator.location),)


def is_replayed_view(operator: Operator) -> bool:
    return operator.structure == "view" and not operator.derivatives


def _gradient(
    operator: Operator, derivative: Derivative, used: Needs, edges: tuple[Argument, ...], program: Program
) -> Gradient:
    assert derivative.formula is not None
    kind = _kind(operator, derivative, edges)
    value = ""
    if kind in ("tensor", "list", "tuple"):
        members = {source: f"{member}_" for source, member in used.rename().items()}
        value = cpp_formula(derivative.formula.node, operator, program, members)

    # Without the gradients that a formula names there is nothing to compute; of several, one may be missing.
    returns = operator.schema.returns
    grads: tuple[int, ...] = used.grads or ((0,) if len(returns) == 1 else ())
    if used.all_grads or any(r.type.is_list for r in returns):
        grads = ()

    # A function of optional gradients knows shorter ways, which also are finite at more points.
    takes_none = len(grads) > 1 and _takes_none(derivative.formula.node, program)

    # Pointwise operators broadcast, so a gradient may have to be summed to the input's shape.
    broadcasts = operator.structure == "pointwise" and len(operator.tensor_arguments) > 1
    return Gradient(
        inputs=derivative.inputs,
        value=value,
        kind=kind,
        edges=tuple(_edge_number(name, edges) for name in derivative.inputs),
        reduces=broadcasts and kind == "tensor",
        grads=() if takes_none else grads,
        materialized=grads if len(grads) > 1 and not takes_none else (),
        any_of=grads if takes_none else (),
    )


def _takes_none(node: Node, program: Program) -> bool:
    """Whether a formula is a call whose arguments that are ``grads[i]`` are all of the type ``Tensor?``."""
    if not isinstance(node, Call):
        return False

    def is_gradient(argument: Node) -> bool:
        return isinstance(argument, Index) and argument.target == Name("grads")

    places = [i for i, argument in enumerate(node.arguments) if is_gradient(argument)]
    called = [operator.schema.arguments.positional for operator in program.by_base_name(node.function)]
    return all(str(arguments[i].type) == "Tensor?" for arguments in called for i in places)


def _kind(operator: Operator, derivative: Derivative, edges: tuple[Argument, ...]) -> str:
    assert derivative.formula is not None
    node = derivative.formula.node
    if is_replayed_view(operator):
        return "view"
    if node == MISSING:
        return "missing"
    if node == Number(0):
        return "zero"
    if len(derivative.inputs) > 1:
        return "tuple"

    argument = next(a for a in edges if a.name == derivative.inputs[0])
    return "list" if argument.type.is_list else "tensor"


def _edge_number(name: str, edges: tuple[Argument, ...]) -> str:
    """The position of an input's edge: ``1``, or ``1 + tensors_size_`` after a list of tensors."""
    before = edges[: next(i for i, a in enumerate(edges) if a.name == name)]
    single = sum(1 for a in before if not a.type.is_list)
    lists = [f"{a.name}_size_" for a in before if a.type.is_list]
    return " + ".join([*([str(single)] if single or not lists else []), *lists])
