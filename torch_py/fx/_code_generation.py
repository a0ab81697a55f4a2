"""Prints graphs as Python functions: `CodeGen`, and the variants for nested arguments and for lists of
them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch_py
from torch_py.fx import _pytree as fx_pytree
from torch_py.fx._annotations import annotation, tensor_summary
from torch_py.fx._expressions import Expressions, Globals, is_plain_name
from torch_py.fx._names import Namespace
from torch_py.fx.node import Node
from torch_py.utils import _pytree as pytree

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph


class _CustomBuiltin(NamedTuple):
    """A name that printed code can always use, and the statement that imports it."""

    import_str: str
    obj: Any


_custom_builtins: dict[str, _CustomBuiltin] = {}


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    """Lets printed code use `name` for `obj`, which `import_str` imports."""
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)


def _register_builtins() -> None:
    _register_custom_builtin("inf", "from math import inf", math.inf)
    _register_custom_builtin("nan", "from math import nan", math.nan)
    _register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
    _register_custom_builtin("torch", "import torch_py as torch", torch_py)
    _register_custom_builtin("device", "from torch_py import device", torch_py.device)
    _register_custom_builtin("fx_pytree", "import torch_py.fx._pytree as fx_pytree", fx_pytree)
    _register_custom_builtin("pytree", "import torch_py.utils._pytree as pytree", pytree)


_register_builtins()


class PythonCode:
    """A printed graph: the source of `forward`, and the globals that it uses.

    `_lineno_map` tells which node, counted from 0, a line of the body comes from; the body starts after line
    `_prologue_start`.
    """

    def __init__(
        self,
        src: str,
        globals: dict[str, Any],
        _lineno_map: dict[int, int | None] | None,
        _prologue_start: int = 0,
    ) -> None:
        self.src = src
        self.globals = globals
        self._lineno_map = _lineno_map
        self._prologue_start = _prologue_start


class Style(NamedTuple):
    """What the options of `Graph.python_code` ask for."""

    verbose: bool
    include_stride: bool
    include_device: bool
    colored: bool
    expanded_def: bool
    additional_meta: list[str]

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colored and text else text

    def blue(self, text: str) -> str:
        return f"\x1b[34m{text}\x1b[0m" if self.colored else text


class CodeGen:
    """How a graph becomes a function. Subclasses change the signature, the way inputs arrive and results
    leave; `Graph.set_codegen` selects one."""

    _body_transformer: Callable[[list[str]], list[str]] | None = None
    _func_name = "forward"

    def __init__(self) -> None:
        self._body_transformer = None
        self._func_name = "forward"

    def copy(self) -> CodeGen:
        """The same for a copy of the graph."""
        return copy.copy(self)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The head of the function, with the parameters `free_vars`, each with its annotation and default."""
        parameters = list(free_vars)
        if not parameters or parameters[0] != "self":
            parameters.insert(0, "self")
        if expanded_def:
            listed = "".join(f"    {parameter},\n" for parameter in parameters)
            return f"def {self._func_name}(\n{listed}){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(parameters)}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """The statement that returns the results. `repr_fn` prints an argument."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as values of the placeholders, for an Interpreter."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the output node returns as the result of the function, for an Interpreter."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the printed code uses in addition: pairs of identifier and value."""
        return []

    def generate(self, graph: Graph, root_module: str, style: Style) -> PythonCode:
        """Prints a graph as a method of `root_module`."""
        return _Printer(self, graph, root_module, style).print()


class _BoxedCodeGen(CodeGen):
    """Code for a function that takes its arguments as one list, and empties it, so that nothing else keeps
    them alive."""

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The head with the parameter `args_list`, and the statements that take the arguments out of it."""
        own = [name for name in free_vars if name != "self"]
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        if not own:
            return head
        names = ", ".join(_without_annotation(name) for name in own)
        return f"{head}\n    {names}, = args_list\n    args_list.clear()"


class _PyTreeInfo(NamedTuple):
    """The names of the arguments that were traced, and the structures of arguments and results."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """Code for a function with nested arguments: it flattens them, and rebuilds the structure of the
    results."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info.out_spec is None or not isinstance(out, (list, tuple)):
            return out
        return pytree.tree_unflatten(list(out), self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The head with the parameters that were traced, and the statement that flattens them."""
        names = self.pytree_info.orig_args
        if not names:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)

        root = names[0] if names[0] == "self" else "self"
        head = super().gen_fn_def(list(names), maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return head

        given = ", ".join(names[1:] if names[0] == "self" else names)
        leaves = ", ".join(_without_annotation(name) for name in free_vars)
        return f"{head}\n    {leaves}, = fx_pytree.tree_flatten_spec([{given}], {root}._in_spec)"

    def generate_output(
        self,
        output_args: Any,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({(repr_fn or repr)(output_args)}, self._out_spec)"


def _without_annotation(parameter: str) -> str:
    """The name in `name : type = default`."""
    return parameter.split(":")[0].split("=")[0].strip()


class _Printer:
    """One run of the generator: collects the lines of the body, and what they need around them."""

    def __init__(self, codegen: CodeGen, graph: Graph, root: str, style: Style) -> None:
        self.codegen = codegen
        self.graph = graph
        self.style = style

        builtins = {name: builtin.obj for name, builtin in _custom_builtins.items()}
        self.globals = Globals(_global_names(graph), builtins)
        for name, value in codegen.additional_globals():
            self.globals.values[name] = value
        self.expressions = Expressions(self.globals, root, style.blue)

        self.parameters: list[str] = []
        self.renamed: list[str] = []  # statements that give parameters the names of their nodes
        self.body: list[str] = []
        self.returns = ""
        self.last_location = ""

    def print(self) -> PythonCode:
        freed = _last_uses(self.graph)
        for number, node in enumerate(self.graph.nodes):
            if self.style.verbose:
                self.body.extend(self._location(node))
            for statement in self._statements(node, freed):
                self.body.append(f"# COUNTER: {number}\n{statement}\n")

        if not self.body:
            self.body.append("pass\n")
        body = self.body
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        return self._assemble("".join(body))

    def _assemble(self, body: str) -> PythonCode:
        head = self.codegen.gen_fn_def(self.parameters, self.returns, expanded_def=self.style.expanded_def)
        bindings = "".join(f"    {statement}\n" for statement in self.renamed)
        prologue = f"\n\n\n{head}\n{bindings}"

        lines: list[str] = []
        origin: dict[int, int | None] = {}
        current: int | None = None
        for line in body.split("\n"):
            if line.startswith("# COUNTER: "):
                current = int(line.removeprefix("# COUNTER: "))
                continue
            lines.append(f"    {line}")
            origin[len(lines)] = current

        source = prologue + "\n".join(lines)
        return PythonCode(source, self.globals.values, origin, prologue.count("\n"))

    # Nodes
    # ------------------------------------------------------------

    def _statements(self, node: Node, freed: dict[Node, list[Node]]) -> Iterator[str]:
        """The lines that a node is printed as."""
        if node.op == "placeholder":
            self._parameter(node)
            return
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {annotation(node.type, self.globals)}"
            yield self.codegen.generate_output(node.args[0], repr_fn=self.expressions.argument)
            return

        in_place = self.expressions.in_place(node)
        if in_place is not None:
            value = self.expressions.argument(node.args[0])
            yield f"{in_place};  {node!r}{self._of_type(node)} = {value}{self._frees(node, freed)}"
            return

        expression = self.expressions.call(node)
        yield f"{node!r}{self._of_type(node)} = {expression}{self._frees(node, freed)}"

    def _parameter(self, node: Node) -> None:
        """Adds a parameter of the function. One whose name differs from that of its node gets a statement."""
        stars = node.target[: len(node.target) - len(node.target.lstrip("*"))]
        name = node.target[len(stars) :]
        if not is_plain_name(name) or name == "self":
            name = repr(node)

        default = f" = {self.expressions.argument(node.args[0])}" if node.args else ""
        self.parameters.append(f"{stars}{name}{self._of_type(node)}{default}")
        if name != repr(node):
            self.renamed.append(f"{node!r} = {name}")

    def _of_type(self, node: Node) -> str:
        """The annotation of a variable: shapes if they are known and wanted, or the type."""
        if self.style.verbose:
            known = node.meta.get("val", node.meta.get("tensor_meta"))
            summary = tensor_summary(
                known, stride=self.style.include_stride, device=self.style.include_device
            )
            if summary:
                return f': "{summary}"'
        return "" if node.type is None else f" : {annotation(node.type, self.globals)}"

    def _frees(self, node: Node, freed: dict[Node, list[Node]]) -> str:
        """The end of a line, which drops the values that are not used below it."""
        dropped = [repr(value) for value in freed.get(node, ())]
        if not dropped:
            return ""
        return ";  " + self.style.dim(" = ".join([*dropped, "None"]))

    def _location(self, node: Node) -> Iterator[str]:
        """A comment with the line of the program that the nodes below it come from, where that changes."""
        if node.op in ("placeholder", "output"):
            return
        location = _location_of(node)
        described = [f"{name}: {node.meta[name]}" for name in self.style.additional_meta if name in node.meta]
        comment = " ".join(["#", *described, location]) if described else location
        if comment == self.last_location:
            return
        self.last_location = comment
        yield ("\n" if self.body else "") + self.style.dim(comment) + "\n"


def _global_names(graph: Graph) -> Namespace:
    """A namespace in which the variables of the graph, and what is always there, are taken."""
    names = Namespace(_custom_builtins)
    for node in graph.nodes:
        names.associate_name_with_obj(node.name, node)
    return names


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """The values that are not needed after a node: those that it is the last to use, and its own if nothing
    uses that. What the output returns is left alone."""
    seen: set[Node] = set()
    freed: dict[Node, list[Node]] = {}
    for user in reversed(graph.nodes):
        values = [value for value in user.all_input_nodes if value not in seen]
        seen.update(values)
        if user.op in ("placeholder", "output"):
            continue
        if not user.users:
            values.append(user)
        if values:
            freed[user] = values
    return freed


def _location_of(node: Node) -> str:
    """`# File: model.py:12 in forward, code: return x + 1`."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return "# No stacktrace found for following nodes"

    lines = trace.strip().split("\n")
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position].strip()
        if line.startswith('File "'):
            file, _, rest = line.removeprefix('File "').partition('", line ')
            number, _, function = rest.partition(", in ")
            code = lines[position + 1].strip() if position + 1 < len(lines) else ""
            return f"# File: {file}:{number} in {function}, code: {code}"
    return ""
