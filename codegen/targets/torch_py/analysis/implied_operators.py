"""Adds what follows from ``expr:``: kernels, derivatives, and a fused operator for each gradient.

Note [Gradients of pointwise formulas]. ``softcap(Tensor self, float cap)`` with
``expr: cap * tanh(self / cap)`` gets a private operator
``softcap_backward(Tensor grad_output, Tensor output, float cap)`` whose expr is the gradient of the formula:
one loop. It is linear in ``grad_output``, so its derivative in that argument is itself; its derivatives in
the others are formulas of tensor operators, and from there on every order follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from codegen.expressions import (
    ExpressionError,
    check_formula,
    complex_names_of,
    gradient,
    names,
    row_gradient,
    simplify,
    to_formula,
    to_source,
)
from codegen.expressions.functions import NUMBER_AS_TENSOR
from codegen.expressions.nodes import (
    Call,
    ListOf,
    Method,
    Name,
    Node,
    Number,
    rebuild,
    substitute,
    walk,
)
from codegen.expressions.rows import COUNT, outermost_reductions
from codegen.expressions.scope import NUMBERS, Scope, resolve
from codegen.model import Derivative, DispatchEntry, Formula, Kernel, Operator, Program, Topic
from codegen.model.autocast import Autocast
from codegen.remembered import remembered
from codegen.schema import Argument, Arguments, BaseType, FunctionSchema, OperatorName, Return
from codegen.schema.names import BaseName
from codegen.targets.torch_py.analysis.argument_names import free_name, with_free_names
from codegen.targets.torch_py.analysis.kernels import formula_kernel_path, with_cuda_formulas

# The tag of operators that act along their ``dim``.
ALONG_DIM = "along_dim"
_TENSOR = BaseType("Tensor")
_COMPLEX = ("complex64", "complex128")
_DIFFERENTIABLE = ("float16", "float32", "float64", "bfloat16", *_COMPLEX)
# Parameters of a gradient's operator.
_RENAMED = {"grad": "grad_output", "result": "output"}


@remembered
def expanded(program: Program) -> Program:
    """``expand`` of a whole program, once."""
    return expand(program)


# The derivatives of an operator that is a formula, and the operators that they call.
Derived = tuple[tuple[Derivative, ...], list[Operator]]
_DERIVED = "derived"


def expand(
    program: Program, only: str | None = None, known: Mapping[str, Derived] = MappingProxyType({})
) -> Program:
    """The same program with the operators that formulas imply, each after the operator it belongs to.

    ``only`` restricts the work to one topic. ``known`` has what an earlier run derived from entries that are
    the same, by unambiguous name.
    """
    base = program.base
    if base is not None and only is None:
        base = expanded(base)

    derived: dict[str, Derived] = {}

    def derive(operator: Operator) -> Derived:
        found = known.get(operator.unambiguous_name)
        if found is not None:
            found = _moved(found, operator)
        else:
            found = _derive(operator, program)
            assert operator.expr is not None
            operator.expr.node.__dict__.clear()  # nobody needs the derivatives any more
        derived[operator.unambiguous_name] = found
        return found

    topics = {
        t.name: Topic(t.name, _expanded(t, derive), t.location) if only in (None, t.name) else t
        for t in program.topics.values()
    }
    operators = {o.unambiguous_name: o for t in topics.values() for o in t.operators}
    by_base: dict[str, tuple[Operator, ...]] = {}
    for operator in operators.values():
        by_base[operator.base_name] = (*by_base.get(operator.base_name, ()), operator)

    found = replace(program, topics=topics, operators=operators, by_base=by_base, base=base)
    possible = _without_impossible(
        found, {helper.unambiguous_name for _, own in known.values() for helper in own}
    )
    possible.__dict__[_DERIVED] = {name: _as_possible(one, possible) for name, one in derived.items()}
    return possible


def derived_in(program: Program) -> Mapping[str, Derived]:
    """What an expanded program derived from its formulas, by the unambiguous names of the operators."""
    found: Mapping[str, Derived] = program.__dict__[_DERIVED]
    return found


def _as_possible(derived: Derived, program: Program) -> Derived:
    derivatives, helpers = derived
    kept = [program.operators[helper.unambiguous_name].derivatives for helper in helpers]
    return derivatives, [helper.changed(derivatives=own) for helper, own in zip(helpers, kept)]


def _moved(derived: Derived, operator: Operator) -> Derived:
    """The same where the entry is now."""
    derivatives, helpers = derived
    place = {"location": operator.location, "key_locations": operator.key_locations}
    return derivatives, [helper.changed(**place) for helper in helpers]


def _expanded(topic: Topic, derive: Callable[[Operator], Derived]) -> tuple[Operator, ...]:
    """The operators of a topic, with kernels, derivatives and helpers of those that have a formula."""
    found: list[Operator] = []
    for operator in map(with_free_names, topic.operators):
        if operator.expr is None:
            found.append(operator)
            continue

        implied: dict[str, Any] = {"dispatch": _with_kernel(operator, formula_kernel_path(operator))}
        if operator.structure == "shaped" and ALONG_DIM not in operator.tags:
            implied["tags"] = (*operator.tags, ALONG_DIM)
        if operator.derivatives or operator.non_differentiable is not None:
            found.append(operator.changed(**implied))
            continue

        derivatives, helpers = derive(operator)
        found += [operator.changed(**implied, derivatives=derivatives), *helpers]

    return with_cuda_formulas(topic.name, found)


def _with_kernel(operator: Operator, path: str) -> tuple[DispatchEntry, ...]:
    """The dispatch map, with the kernel that is printed from the formula."""
    if operator.dispatch_for("CPU") is not None:
        return operator.dispatch
    kernel = f"{operator.unambiguous_name}_kernel"
    entry = DispatchEntry("CPU", kernel, Kernel(kernel, path, 1), operator.location)
    return (entry, *operator.dispatch)


def _derive(operator: Operator, program: Program) -> Derived:
    """Of an operator given by ``expr``."""
    assert operator.expr is not None
    if operator.is_over_rows:
        return _derive_rows(operator, program)

    derivatives = []
    helpers = []
    tensors = operator.tensor_arguments
    for argument in tensors:
        node = gradient(operator.expr.node, argument.name, operator, conjugate=_is_complex(operator))

        # Only a gradient that depends on elements is worth a loop of its own.
        if any(a.name in names(node) for a in tensors) or "result" in names(node):
            suffix = "_backward" if len(tensors) == 1 else f"_backward_{argument.name}"
            helper, node = _helper(operator, _free_name(operator, suffix, program), node)
            helpers.append(helper)
        else:
            node = to_formula(node, operator)
        derivatives.append(_derivative(operator, argument.name, node))

    return tuple(derivatives), helpers


def _derive_rows(operator: Operator, program: Program) -> Derived:
    """The same for a formula over rows. Its gradients are formulas over rows as well.

    The gradient and the result of a reduction are expanded to the sizes of ``self``: what they are made of
    sums up what arrives there in higher derivatives.
    """
    assert operator.expr is not None
    derivatives = []
    helpers = []
    tensors = [a.name for a in operator.tensor_arguments]
    is_reduced = operator.structure == "reduction"
    complex_names = complex_names_of(operator, operator.dtypes)
    for name in tensors:
        node = row_gradient(operator.expr.node, name, tensors, is_reduced, complex_names)

        # As above, a gradient that is the same for all elements of a row needs no loop.
        used = names(node)
        if any(n in used for n in (*tensors, "result", COUNT)) or outermost_reductions(node):
            suffix = "_backward" if len(tensors) == 1 else f"_backward_{name}"
            # Without reductions it is pointwise, as that of logsumexp: grad * exp(self - result).
            over_rows = bool(outermost_reductions(node)) or COUNT in used
            helper, node = _helper(operator, _free_name(operator, suffix, program), node, over_rows)
            helpers.append(helper)
        else:
            node = to_formula(node, operator)

        if is_reduced:
            node = substitute(node, {n: _expanded_to_rows(n, operator) for n in ("grad", "result")})
        derivatives.append(_derivative(operator, name, node))
    return tuple(derivatives), helpers


def _expanded_to_rows(name: str, operator: Operator) -> Node:
    """The gradient or the result of a reduction, for each element of the rows."""
    dim = operator.schema.arguments.find("dim")
    assert dim is not None
    dims: Node = Name("dim") if dim.type.is_list else ListOf((Name("dim"),))
    sizes = Method(Name(operator.tensor_arguments[0].name), "sizes", ())
    return Call("_expand_reduced", (Name(name), sizes, dims, Name("keepdim")))


def _helper(operator: Operator, name: str, node: Node, over_rows: bool = False) -> tuple[Operator, Node]:
    """The private operator that computes ``node`` in one loop, and the call of it."""
    used = names(node)
    tensors = [n for n in (*(a.name for a in operator.tensor_arguments), "result") if n in used]
    plain = [a for a in operator.schema.arguments.non_tensors if a.name in used]
    if over_rows:
        plain += [a for a in operator.schema.arguments.non_tensors if a.name == "dim"]
    call = Call(name, tuple(Name(n) for n in ("grad", *tensors, *(a.name for a in plain))))

    # The helper has a gradient and a result of its own, so those of ``operator`` get other names in it.
    taken = set(operator.schema.arguments.names())
    renamed = {old: free_name(new, taken) for old, new in _RENAMED.items()}
    parameters = [Argument(_TENSOR, renamed.get(n, n)) for n in ("grad", *tensors)]
    parameters += [Argument(a.type, a.name) for a in plain]
    expr = simplify(substitute(node, {old: Name(new) for old, new in renamed.items()}))

    helper = _private_operator(operator, name, parameters, expr, over_rows)
    shares_file = helper.is_over_rows == operator.is_over_rows
    dispatch = _with_kernel(helper, formula_kernel_path(operator if shares_file else helper))
    return helper.changed(dispatch=dispatch, derivatives=_higher_derivatives(helper, name)), call


def _private_operator(
    operator: Operator, name: str, parameters: list[Argument], expr: Node, over_rows: bool
) -> Operator:
    """An operator of its own, pointwise or over rows, declared where ``operator`` is."""
    arguments = Arguments((), None, tuple(parameters), (), ())
    schema = FunctionSchema(OperatorName(BaseName.of(name)), arguments, (Return(_TENSOR),))

    return operator.changed(
        schema=schema,
        structure="shaped" if over_rows else "pointwise",
        out_dtype="exact" if over_rows else "castable",
        variants=("function",),
        python_module="private",
        promotion=None if over_rows else "default",
        scalars=(),
        requires=(),
        dtypes=tuple(d for d in operator.dtypes if d in _DIFFERENTIABLE),
        expr=_formula(operator, expr),
        dispatch=(),
        samples=None,
        doc=f"The gradient of ``{operator.name}``.",
        aliases=(),
        since=None,
        renamed=(),
        deprecated=None,
        tags=(ALONG_DIM,) if over_rows else (),
        autocast=Autocast(),
        derivatives=(),
        non_differentiable=None,
    )


def _higher_derivatives(helper: Operator, name: str) -> tuple[Derivative, ...]:
    """The derivatives of a gradient's operator; MISSING where a function in its formula has no rule."""
    assert helper.expr is not None
    if helper.is_over_rows:
        return tuple(_higher_row_derivatives(helper))
    grad_output, *others = helper.tensor_arguments
    found = []
    if _is_linear(helper, grad_output.name):
        own_call = Call(name, (Name("grad"), *(Name(a.name) for a in helper.schema.arguments.flat_all[1:])))
        found.append(_derivative(helper, grad_output.name, _adjoint(own_call, helper)))
    else:
        others.insert(0, grad_output)

    for argument in others:
        try:
            node = gradient(helper.expr.node, argument.name, helper, conjugate=_is_complex(helper))
        except ExpressionError as error:
            found.append(Derivative((argument.name,), _missing(helper, error.message), helper.location))
        else:
            found.append(_derivative(helper, argument.name, to_formula(node, helper)))
    return tuple(found)


def _higher_row_derivatives(helper: Operator) -> Iterator[Derivative]:
    """Formulas of tensor operators over the dimensions of the rows."""
    assert helper.expr is not None
    tensors = [a.name for a in helper.tensor_arguments]
    complex_names = complex_names_of(helper, helper.dtypes)
    for name in tensors:
        try:
            node = row_gradient(helper.expr.node, name, tensors, False, complex_names)
        except ExpressionError as error:
            yield Derivative((name,), _missing(helper, error.message), helper.location)
        else:
            yield _derivative(helper, name, to_formula(node, helper))


def _is_linear(helper: Operator, name: str) -> bool:
    """Whether ``name`` is multiplied by a factor. A conjugate of it, or its real part, is something else."""
    assert helper.expr is not None
    return not any(
        isinstance(part, Call) and part.function in ("conj", "real") and name in names(part)
        for part in walk(helper.expr.node)
    )


def _adjoint(call: Call, helper: Operator) -> Node:
    """The gradient of ``grad_output``, which was multiplied by a factor: ``grad`` times its conjugate."""
    if not _is_complex(helper):
        return call
    grad, *others = call.arguments
    return Call("conj", (Call(call.function, (Call("conj", (grad,)), *others)),))


# The formula of a derivative that has no rule; computing it is an error at run time.
MISSING = Call("", ())


def missing(operators: Iterable[Operator]) -> list[tuple[Operator, str, str]]:
    """The derivatives that expanded operators lack: the operator, its argument and the reason."""
    found = []
    for operator in operators:
        for d in operator.derivatives:
            if d.formula is not None and not d.formula.parses and d.formula.node == MISSING:
                found.append((operator, ", ".join(d.inputs), d.formula.text.removeprefix(_MISSING_TEXT)))
    return found


_MISSING_TEXT = "not implemented: "


def _missing(operator: Operator, reason: str) -> Formula:
    return Formula(f"{_MISSING_TEXT}{reason}", MISSING, operator.location)


def _without_impossible(program: Program, known: Collection[str]) -> Program:
    """The same program; derivatives that call operators which it lacks become MISSING.

    Those of ``known`` operators are right already.
    """

    def checked(operator: Operator) -> Operator:
        is_helper = operator.samples is None and operator.expr is not None
        if is_helper and operator.python_module == "private" and operator.unambiguous_name not in known:
            derivatives = tuple(_possible(d, operator, program) for d in operator.derivatives)
            operator = operator.changed(derivatives=derivatives)
        # The trees of formulas take more memory than all else of an operator.
        operator.forget()
        return operator

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
        return derivative._replace(formula=_missing(operator, problems[0].message))
    return derivative if node == formula.node else derivative._replace(formula=_formula(operator, node))


def _with_tensors(node: Node, scope: Scope) -> Node:
    """``hypot(self, scalar_tensor(1))``: numbers become tensors where an operator takes nothing else."""
    node = rebuild(node, lambda part: _with_tensors(part, scope))
    if not isinstance(node, Call) or scope.is_scalar_call(node) or resolve(node, scope) is not None:
        return node
    arguments = (Call(NUMBER_AS_TENSOR, (a,)) if scope.kind(a) in NUMBERS else a for a in node.arguments)
    changed = Call(node.function, tuple(arguments), offset=node.offset)
    return node if resolve(changed, scope) is None else changed


def _derivative(operator: Operator, argument: str, node: Node) -> Derivative:
    return Derivative((argument,), _formula(operator, node), operator.location)


def _formula(operator: Operator, node: Node) -> Formula:
    location = operator.expr.location if operator.expr is not None else operator.location
    return Formula(to_source(node), node, location)


def _is_complex(operator: Operator) -> bool:
    return any(d in _COMPLEX for d in operator.dtypes)


def _free_name(operator: Operator, suffix: str, program: Program) -> str:
    name = operator.unambiguous_name + suffix
    while program.by_base_name(name):
        name = f"_{name}"
    return name
