"""Adds to a program what follows from ``expr:``: the kernel, the derivatives, and a fused operator for each
gradient.

Note [Gradients of pointwise formulas]. ``softcap(Tensor self, float cap)`` with
``expr: cap * tanh(self / cap)`` gets a private operator
``softcap_backward(Tensor grad_output, Tensor output, float cap)`` whose expr is the gradient of the formula:
one loop. It is linear in ``grad_output``, so its derivative in that argument is itself; its derivatives in
the others are formulas of tensor operators, and from there on every order follows.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.analysis.argument_names import free_name, with_free_names
from codegen.analysis.kernels import formula_kernel_path
from codegen.expressions import (
    ExpressionError,
    check_formula,
    gradient,
    names,
    simplify,
    to_formula,
    to_source,
)
from codegen.expressions.functions import NUMBER_AS_TENSOR
from codegen.expressions.nodes import Call, Name, Node, Number, rebuild, substitute
from codegen.expressions.scope import NUMBERS, Scope, resolve
from codegen.model import Derivative, DispatchEntry, Formula, Kernel, Operator, Program, Topic
from codegen.schema import Argument, Arguments, BaseType, FunctionSchema, OperatorName, Return
from codegen.schema.names import BaseName

_TENSOR = BaseType("Tensor")
_COMPLEX = ("complex64", "complex128")
_DIFFERENTIABLE = ("float16", "float32", "float64", "bfloat16", *_COMPLEX)
# Parameters of a gradient's operator, which has a gradient and a result of its own.
_RENAMED = {"grad": "grad_output", "result": "output"}


def expand(program: Program, only: str | None = None) -> Program:
    """The same program with the operators that formulas imply, each behind the operator it belongs to.

    ``only`` names a topic that is enough for the one who asks.
    """
    base = expand(program.base) if program.base is not None and only is None else program.base
    topics = {
        t.name: Topic(t.name, _expanded(t, program), t.location) if only in (None, t.name) else t
        for t in program.topics.values()
    }
    operators = {o.unambiguous_name: o for t in topics.values() for o in t.operators}
    by_base: dict[str, tuple[Operator, ...]] = {}
    for operator in operators.values():
        by_base[operator.base_name] = (*by_base.get(operator.base_name, ()), operator)
    found = replace(program, topics=topics, operators=operators, by_base=by_base, base=base)
    return _without_impossible(found)


def _expanded(topic: Topic, program: Program) -> tuple[Operator, ...]:
    found: list[Operator] = []
    for operator in map(with_free_names, topic.operators):
        if operator.expr is None:
            found.append(operator)
            continue
        operator = _with_kernel(operator, formula_kernel_path(operator))
        if operator.derivatives or operator.non_differentiable is not None:
            found.append(operator)
            continue
        derivatives, helpers = _derive(operator, program)
        found += [replace(operator, derivatives=derivatives), *helpers]
    return tuple(found)


def _with_kernel(operator: Operator, path: str) -> Operator:
    if operator.dispatch_for("CPU") is not None:
        return operator
    kernel = f"{operator.unambiguous_name}_kernel"
    entry = DispatchEntry("CPU", kernel, Kernel(kernel, path, 1), operator.location)
    return replace(operator, dispatch=(entry, *operator.dispatch))


def _derive(operator: Operator, program: Program) -> tuple[tuple[Derivative, ...], list[Operator]]:
    """The derivatives of an operator given by ``expr``, and the operators they call."""
    assert operator.expr is not None
    derivatives, helpers = [], []
    tensors = operator.tensor_arguments
    for argument in tensors:
        node = gradient(operator.expr.node, argument.name, operator, conjugate=_is_complex(operator))
        if any(a.name in names(node) for a in tensors) or "result" in names(node):
            suffix = "_backward" if len(tensors) == 1 else f"_backward_{argument.name}"
            helper, node = _helper(operator, _free_name(operator, suffix, program), node)
            helpers.append(helper)
        else:
            node = to_formula(node, operator)
        derivatives.append(_derivative(operator, argument.name, node))
    return tuple(derivatives), helpers


def _helper(operator: Operator, name: str, node: Node) -> tuple[Operator, Node]:
    """The private operator that computes ``node`` in one loop, and the call of it."""
    used = names(node)
    taken = set(operator.schema.arguments.names())
    renamed = {old: free_name(new, taken) for old, new in _RENAMED.items()}
    tensors = [n for n in (*(a.name for a in operator.tensor_arguments), "result") if n in used]
    plain = [a for a in operator.schema.arguments.non_tensors if a.name in used]
    parameters = [Argument(_TENSOR, renamed.get(n, n)) for n in ("grad", *tensors)]
    parameters += [Argument(a.type, a.name) for a in plain]
    schema = FunctionSchema(
        OperatorName(BaseName.of(name)), Arguments((), None, tuple(parameters), (), ()), (Return(_TENSOR),)
    )
    expr = simplify(substitute(node, {old: Name(new) for old, new in renamed.items()}))
    call = Call(name, tuple(Name(n) for n in ("grad", *tensors, *(a.name for a in plain))))
    helper = replace(
        operator,
        schema=schema,
        variants=("function",),
        python_module="private",
        promotion="default",
        scalars=(),
        requires=(),
        dtypes=tuple(d for d in operator.dtypes if d in _DIFFERENTIABLE),
        expr=_formula(operator, expr),
        dispatch=(),
        samples=None,
        doc=f"The gradient of ``{operator.name}``.",
        aliases=(),
        tags=(),
        autocast="none",
        derivatives=(),
        non_differentiable=None,
    )
    helper = _with_kernel(helper, formula_kernel_path(operator))
    return replace(helper, derivatives=_higher_derivatives(helper, name)), call


def _higher_derivatives(helper: Operator, name: str) -> tuple[Derivative, ...]:
    assert helper.expr is not None
    found = []
    for position, argument in enumerate(helper.tensor_arguments):
        if position == 0:  # linear in grad_output
            node: Node = _adjoint(
                Call(name, (Name("grad"), *(Name(a.name) for a in helper.schema.arguments.flat_all[1:]))),
                helper,
            )
        else:
            try:
                node = gradient(helper.expr.node, argument.name, helper, conjugate=_is_complex(helper))
            except ExpressionError as error:
                found.append(Derivative((argument.name,), _missing(helper, error.message), helper.location))
                continue
            node = to_formula(node, helper)
        found.append(_derivative(helper, argument.name, node))
    return tuple(found)


def _adjoint(call: Call, helper: Operator) -> Node:
    """What ``grad_output`` gets back: it was multiplied by a factor, so ``grad`` is by the factor's
    conjugate."""
    if not _is_complex(helper):
        return call
    grad, *others = call.arguments
    return Call("conj", (Call(call.function, (Call("conj", (grad,)), *others)),))


# Stands for a derivative that has no rule; computing it is an error at run time.
MISSING = Call("", ())


def missing(program: Program) -> list[tuple[Operator, str, str]]:
    """Derivatives that an expanded program lacks: the operator, its argument and why."""
    found = []
    for operator in program:
        for d in operator.derivatives:
            if d.formula is not None and d.formula.node == MISSING:
                found.append((operator, ", ".join(d.inputs), d.formula.text.removeprefix(_MISSING_TEXT)))
    return found


_MISSING_TEXT = "not implemented: "


def _missing(operator: Operator, reason: str) -> Formula:
    return Formula(f"{_MISSING_TEXT}{reason}", MISSING, operator.location)


def _without_impossible(program: Program) -> Program:
    """Derivatives that call operators which ``program`` lacks become MISSING ones."""

    def checked(operator: Operator) -> Operator:
        if operator.samples is not None or operator.expr is None or operator.python_module != "private":
            return operator
        return replace(
            operator, derivatives=tuple(_possible(d, operator, program) for d in operator.derivatives)
        )

    operators = {name: checked(o) for name, o in program.operators.items()}
    topics = {
        n: replace(t, operators=tuple(operators[o.unambiguous_name] for o in t.operators))
        for n, t in program.topics.items()
    }
    by_base = {n: tuple(operators[o.unambiguous_name] for o in found) for n, found in program.by_base.items()}
    return replace(program, operators=operators, topics=topics, by_base=by_base)


def _possible(derivative: Derivative, operator: Operator, program: Program) -> Derivative:
    formula = derivative.formula
    if formula is None or formula.node in (MISSING, Number(0)):
        return derivative
    node = _with_tensors(formula.node, Scope(operator, program))
    problems = check_formula(node, operator, program)
    if problems:
        return replace(derivative, formula=_missing(operator, problems[0].message))
    return derivative if node == formula.node else replace(derivative, formula=_formula(operator, node))


def _with_tensors(node: Node, scope: Scope) -> Node:
    """Numbers become tensors in calls of operators that take none: ``hypot(self, scalar_tensor(1))``."""
    node = rebuild(node, lambda part: _with_tensors(part, scope))
    if not isinstance(node, Call) or scope.is_scalar_call(node) or resolve(node, scope) is not None:
        return node
    arguments = (Call(NUMBER_AS_TENSOR, (a,)) if scope.kind(a) in NUMBERS else a for a in node.arguments)
    changed = Call(node.function, tuple(arguments), offset=node.offset)
    return node if resolve(changed, scope) is None else changed


def _derivative(operator: Operator, argument: str, node: Node) -> Derivative:
    return Derivative((argument,), _formula(operator, node), operator.location)


def _formula(operator: Operator, node: Node) -> Formula:
    return Formula(
        to_source(node), node, operator.expr.location if operator.expr is not None else operator.location
    )


def _is_complex(operator: Operator) -> bool:
    return any(d in _COMPLEX for d in operator.dtypes)


def _free_name(operator: Operator, suffix: str, program: Program) -> str:
    name = operator.unambiguous_name + suffix
    while program.by_base_name(name):
        name = f"_{name}"
    return name
