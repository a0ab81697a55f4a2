"""Programs for sizes that vary.

A graph is compiled for four sets of primes as sizes, as if they were fixed, up to the texts of its
kernels and the steps of its program. What differs between the four is a number that depends on sizes;
its formula takes its place: kernels are given the number, and steps have it as a formula. So no stage
before needs to know that sizes vary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch_py._C import float64
from torch_py._functorch.aot.nodes import Builder, input_values, mode_of
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.print_expr import LARGEST_EXACT
from torch_py._inductor.stages import CompiledGraph, plan, source_of, symbols_of
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._shapes import formulas
from torch_py._shapes.arguments import NotFollowed, example_of, solved_geometry
from torch_py._shapes.formulas import Formula, Symbol, Term, evaluate, postfix, symbols_in
from torch_py._shapes.merging import merged, solved
from torch_py._shapes.solver import Ambiguous, Question, Solver
from torch_py._shapes.stand_ins import MOST_RECORDINGS, RECORDINGS, mixed_stand_ins_of, stand_ins_of
from torch_py._subclasses.errors import DataDependentOutputException
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg

# Merging
# ------------------------------------------------------------


class Merge(Fields):
    """Merges texts, numbers and nested containers of them that were made for several sizes.

    `inputs` are formulas of the inputs that are sizes.
    """

    solver: Solver
    inputs: Mapping[Symbol, tuple[str]]

    def number(self, values: Sequence[Any]) -> Term:
        """The formula of a number. Raises NotFollowed without one."""
        return solved(self.solver.solve, _not_explained, tuple(values))

    def value(self, values: Sequence[Any]) -> Any:
        """Nested tuples, lists and dicts; numbers that vary become formulas as programs take them."""
        return merged(values, self._leaf)

    def _leaf(self, values: tuple[Any, ...]) -> Any:
        first = values[0]
        if isinstance(first, (tuple, list)):
            raise NotFollowed("a list has another length for other sizes")
        is_number = isinstance(first, (int, float)) and not isinstance(first, bool)
        return self.postfix(self.number(values)) if is_number else first

    def facts(self, rows: Sequence[Any]) -> Any:
        """Dtype, sizes, strides and device of a slot; a number among the inputs has a type alone."""
        if not isinstance(rows[0], tuple):
            return rows[0]
        dtype, _, _, device = rows[0]
        _, shapes, memory, _ = zip(*rows)
        sizes, strides = solved_geometry(shapes, memory, self.number)
        return dtype, tuple(map(self.postfix, sizes)), tuple(map(self.postfix, strides)), device

    def step(self, rows: Sequence[Any], needed: Mapping[str, list[Term]]) -> Any:
        """A step of a program. A kernel is given the numbers that it has `needed`."""
        if rows[0][0] != "kernel":
            return self.value(rows)
        kind, name, slots, _, grain, _, written = rows[0]
        extent = self.postfix(self.number([row[3] for row in rows]))
        return kind, name, slots, extent, grain, tuple(map(self.postfix, needed[name])), written

    def output(self, values: Sequence[Any]) -> Any:
        """The slot of a tensor, or a number as a formula."""
        if not isinstance(values[0], tuple):
            return values[0]
        term = self.postfix(self.number([number for (number,) in values]))
        return term if isinstance(term, tuple) else (term,)

    def postfix(self, term: Term) -> Any:
        """A formula as programs take it: ``("s0", 1, "+", 2, "//")``.

        Raises NotFollowed for a symbol that no input has, and for what programs cannot compute.
        """
        if not isinstance(term, (Symbol, Formula)):
            return term
        if not symbols_in(term) <= self.inputs.keys():
            raise NotFollowed(f"no input of the graph has all sizes of {term}")
        words = postfix(term, self.inputs.__getitem__)
        if not formulas.REAL_SIGNS.isdisjoint(words):
            raise NotFollowed(f"a program cannot compute {term}")
        return words

    def text(self, texts: Sequence[str], name: str) -> tuple[str, list[Term]]:
        """The text of a kernel. Numbers that vary are elements of `name`, which follow."""
        pieces = [_NUMBER.split(text) for text in texts]
        if len({len(piece) for piece in pieces}) > 1:
            raise NotFollowed("a kernel has another form for other sizes")

        terms: list[Term] = []
        found = [""]
        for words in zip(*pieces):
            if len(set(words)) == 1:
                found.append(words[0])
            elif not all(map(_NUMBER.fullmatch, words)):
                forms = f"{words[0]!r} and {words[-1]!r}"
                raise NotFollowed(f"a kernel has another form for other sizes: {forms}")
            elif _OF_ROW.search(found[-1]):
                raise NotFollowed("a kernel keeps a row on the stack whose size varies")
            else:
                found.append(self._in_text(words, terms, name))
        return "".join(found), terms

    def _in_text(self, words: Sequence[str], terms: list[Term], name: str) -> str:
        """An element of `name` in the place of a number, as the type that the number has."""
        is_real = "." in words[0]
        type = "float" if words[0].endswith("f") else "double"
        values = [float(word.rstrip("f")) for word in words]
        term = self._count(values) if is_real else self.number([int(word) for word in words])
        if term not in terms:
            terms.append(term)
        element = f"{name}[{terms.index(term)}]"
        return f"static_cast<{type}>({element})" if is_real else element

    def _count(self, values: Sequence[float]) -> Term:
        """The formula of whole numbers that the text has as real ones, as counts of elements are."""
        exact = [int(value) for value in values]
        term = self.solver.solve(tuple(exact)) if max(map(abs, values)) < LARGEST_EXACT else None
        if term is None or exact != values:
            raise NotFollowed(f"a kernel has a real number that depends on sizes: {values[0]}")
        return term


def _not_explained(values: tuple[Any, ...]) -> Exception:
    return NotFollowed(f"no formula of the sizes explains a number: {', '.join(map(str, values))}")


# The declaration of a row that a kernel keeps on the stack, and that of an array of lanes.
_OF_ROW = re.compile(r"\) [\w:]+ \w+\[$")
_LANES = re.compile(r"^ *alignas\(64\) [\w:]+ \w+\[(\d+)\];$", re.MULTILINE)
# A number that is not part of a name.
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?f?)(?![\w.])")


# Graphs for some sizes
# ------------------------------------------------------------

aten: Any = ops.aten


def specialised(module: GraphModule, sizes: Mapping[Symbol, int]) -> GraphModule:
    """The graph for these sizes: without nodes that compute numbers, and with fake tensors of these sizes."""
    mode = mode_of(input_values(module.graph))
    graph = Graph()
    builder = Builder(graph, mode)
    copies: dict[Node, Any] = {}

    for node in module.graph.nodes:
        number = evaluate(node.meta.get("val"), sizes)
        reads_tensors = any(isinstance(copies[argument], Node) for argument in node.all_input_nodes)
        if node.op == "placeholder":
            copies[node] = _input(graph, node, mode, sizes)
        elif isinstance(number, float):
            copies[node] = _real_number(builder, node.meta["val"], sizes)
        elif isinstance(number, int) and not reads_tensors:
            copies[node] = number
        else:
            copies[node] = graph.node_copy(node, lambda argument: copies[argument])  # noqa: B023
        if isinstance(copies[node], Node) and node.op == "call_function":
            copies[node].meta["val"] = _computed(copies[node], mode)
            copies[node] = _of_dtype(builder, copies[node], node.meta["val"])
    return GraphModule(module, graph)


def _of_dtype(builder: Builder, node: Node, like: Any) -> Node:
    """The node, rounded to the dtype of its original: a real number of a size, as a tensor, turns tensors
    without dimensions into such of float64."""
    value = node.meta["val"]
    if not isinstance(value, Tensor) or not isinstance(like, Tensor) or value.dtype == like.dtype:
        return node
    return builder.call(aten._to_copy.default, node, dtype=like.dtype, device=like.device)


def _input(graph: Graph, node: Node, mode: FakeTensorMode, sizes: Mapping[Symbol, int]) -> Any:
    copy = graph.placeholder(node.name)
    example = example_of(node, mode, sizes)
    copy.meta = {**node.meta, "val": example}
    return copy if isinstance(example, Tensor) else example


def _real_number(builder: Builder, term: Any, sizes: Mapping[Symbol, int]) -> Node:
    """A tensor of the value of a term with a real value.

    As a number in the text of a kernel it would be rounded, and its formula lost.
    """
    value = evaluate(term, sizes)
    if not isinstance(term, Formula) or not isinstance(value, float) or term.operation not in _REAL_OPERATORS:
        return builder.call(aten.full.default, [], value, dtype=float64)
    operands = [_real_number(builder, operand, sizes) for operand in term.operands]
    target = _REAL_OPERATORS[term.operation]
    return operands[0] if target is None else builder.call(target, *operands)


_REAL_OPERATORS: dict[str, Any] = {
    "add": aten.add.Tensor,
    "sub": aten.sub.Tensor,
    "mul": aten.mul.Tensor,
    "pow": aten.pow.Tensor_Tensor,
    "truediv": aten.div.Tensor,
    "sym_float": None,
    **{name: getattr(aten, name).default for name in formulas.FUNCTIONS},
}


def _computed(node: Node, mode: FakeTensorMode) -> Any:
    args, kwargs = map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    try:
        with mode, no_grad():
            return node.target(*args, **kwargs)  # type: ignore[operator]
    except (TypeError, DataDependentOutputException) as error:
        raise NotFollowed(f"`{node.target}` takes no real number that depends on sizes: {error}") from None


# Compilation
# ------------------------------------------------------------


class _Variant:
    """The graph compiled for some sizes, up to its texts."""

    def __init__(self, module: GraphModule, sizes: Mapping[Symbol, int], loops: bool) -> None:
        self.compiled = compiled = CompiledGraph(specialised(module, sizes))
        plan(compiled, loops)
        # What is next to what in an arena depends on the sizes.
        self.assembly = Assembly(compiled.graph, compiled.schedule, has_arena=False)
        self.sizes = sizes
        # Ahead-of-time autograd makes all sizes inputs of each graph.
        numbers = [value for value in input_values(module.graph) if not isinstance(value, Tensor)]
        self.inputs = {number: (f"s{place}",) for place, number in enumerate(numbers)}
        # The number of lanes depends on sizes, but serves all of them.
        self.form = tuple(
            (_NUMBER.sub("", kernel.text), *_LANES.findall(kernel.text)) for kernel in compiled.kernels
        )


def compile_varying(compiled: CompiledGraph, loops: bool = True) -> None:
    """Compiles a graph whose inputs have formulas of symbols as ``meta["sizes"]``.

    Raises NotFollowed if it depends on sizes in a way that no formula explains.
    """
    module = compiled.module
    symbols = symbols_of(module)
    facts = [node.meta.get(name, ()) for node in module.graph.nodes for name in ("sizes", "strides")]
    known = [term for terms in facts for term in terms]

    rounds = any("//" in postfix(term, lambda symbol: (symbol,)) for term in known)
    variants = _alike(_Variant(module, sizes, loops) for sizes in _sizes_to_try(symbols, rounds))
    unanswered: set[Question] = set()
    while True:
        solver = Solver([variant.sizes for variant in variants], unanswered)
        try:
            for term in known:
                solver.know(term)
            _merge(compiled, variants, Merge(solver, variants[0].inputs))
            return
        except Ambiguous as question:
            # A quotient among the sizes is not decided by the smallest offset: its question comes again.
            if len(variants) == MOST_RECORDINGS or question.key in unanswered:
                raise NotFollowed("the sizes in its kernels could not be determined") from None
            answer = _answer(question, variants[0], module, loops)
            if answer is None:
                # Numbers of blocks are rounded up. Where they come out even, kernels have no rest to do.
                unanswered.add(question.key)
            else:
                variants.append(answer)


def _answer(question: Ambiguous, like: _Variant, module: GraphModule, loops: bool) -> _Variant | None:
    """Another variant of the form of `like`, which tells formulas apart."""
    sizes = ({**like.sizes, question.symbol: size} for size in question.sizes)
    found = (_Variant(module, values, loops) for values in sizes)
    return next((variant for variant in found if variant.form == like.form), None)


def _other_form(one: _Variant, other: _Variant) -> str:
    """Which kernel has another text, by its name, which says what it computes."""
    kernels = zip(one.compiled.kernels, other.compiled.kernels)
    names = [kernel.name for (kernel, _), own, its in zip(kernels, one.form, other.form) if own != its]
    sizes = ", ".join(f"{symbol} = {size}" for symbol, size in other.sizes.items())
    return f"{names[0] if names else 'a kernel'} has another form for {sizes}"


def _sizes_to_try(symbols: Sequence[Symbol], rounds: bool) -> Iterator[Mapping[Symbol, int]]:
    """Sizes to compile for: primes, as kernels have the same form for most of these."""
    for number in range(MOST_RECORDINGS):
        # Only even sizes show how halves are rounded. These are one of few forms, as their halves are odd.
        is_even = rounds and number == _EVEN
        yield mixed_stand_ins_of(symbols, number) if is_even else stand_ins_of(symbols, number)


_EVEN = 2  # the number of a recording whose mixed stand-ins are even, but no multiples of 4


def _alike(variants: Iterable[_Variant]) -> list[_Variant]:
    """The first variants of one form, as many as it takes to tell formulas.

    Kernels have another form for sizes that are multiples of a vector's length, as some are by accident.
    """
    by_form: dict[Any, list[_Variant]] = {}
    for variant in variants:
        found = by_form.setdefault(variant.form, [])
        found.append(variant)
        # A symbol with few samples has the same one in several recordings.
        if all(len({other.sizes[symbol] for other in found}) >= RECORDINGS for symbol in variant.sizes):
            return found
    first, *others = by_form.values()
    raise NotFollowed(_other_form(first[0], others[0][0] if others else first[0]))


def _merge(compiled: CompiledGraph, variants: Sequence[_Variant], merge: Merge) -> None:
    first = variants[0]
    # The sizes of tensors first: numbers of elements are products of them.
    descriptions = [variant.assembly.description() for variant in variants]
    slots, steps, outputs = zip(*(description[1:4] for description in descriptions))
    facts = [merge.facts(rows) for rows in zip(*slots)]

    texts = []
    needed: dict[str, list[Term]] = {}
    for kernels in zip(*(variant.compiled.kernels for variant in variants)):
        text, needed[kernels[0].name] = merge.text([kernel.text for kernel in kernels], "sizes")
        texts.append(text)

    if len({tuple(step[:2] for step in own) for own in steps}) > 1:
        raise NotFollowed("a program has other steps for other sizes")
    merged_steps = [merge.step(rows, needed) for rows in zip(*steps)]
    parts = (facts, merged_steps, [merge.output(values) for values in zip(*outputs)])
    inputs, _, _, _, constants, _, *others = descriptions[0]
    compiled.graph = first.compiled.graph
    compiled.loops = first.compiled.loops
    compiled.kernels = first.compiled.kernels
    source = source_of(compiled.kernels, texts)
    compiled.link(source, lambda library: (inputs, *parts, constants, library, *others))
