"""Passes: splits, partitions, constants, common expressions, fusion, pictures, sizes, managers."""

from __future__ import annotations

import importlib
import operator
import xml.etree.ElementTree
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

fx = torch.fx


def module(name: str) -> Any:
    return importlib.import_module(f"{torch.__name__}.fx.{name}")


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 3))
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: Any, y: Any) -> Any:
        a = self.linear(x) + self.weight
        b = self.layers[0](a)
        c = torch.relu(b) + y + a
        return c * self.weight, b


def program(a: Any, b: Any, c: Any) -> Any:
    x = a + b
    y = torch.relu(x)
    z = torch.sin(y)
    v = torch.relu(z + c)
    return y + v, torch.cos(c) + 1


def numbers() -> list[Any]:
    return [torch.rand(3), torch.rand(3), torch.rand(3)]


def same(one: Any, other: Any) -> bool:
    return all(torch.allclose(a, b) for a, b in zip(one, other))


# Splits
# ------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"keep_original_order": True}, {"tuple_return": True}])
def test_split_module(options: Any) -> None:
    model = Model()
    traced = fx.symbolic_trace(model)
    steps = {node: number // 2 for number, node in enumerate(traced.graph.nodes)}
    names: dict[str, str] = {}
    split = module("passes.split_module").split_module(traced, model, steps.__getitem__, names, **options)
    x, y = torch.rand(2, 3), torch.rand(3)
    assert same(split(x, y), model(x, y))
    assert "layers.0" in names.values() and all(name.startswith("submod_") for name in names)
    assert all(isinstance(child, fx.GraphModule) for child in split.children())
    split.graph.lint()


def test_names_of_splits() -> None:
    model = Model()
    split = module("passes.split_module").split_module(
        fx.symbolic_trace(model), model, lambda node: 0, partition_affix="part", keep_original_node_name=True
    )
    assert [name for name, _ in split.named_children()] == ["submod_part_0"]
    inside = [node.name for node in split.submod_part_0.graph.nodes]
    assert "layers_0" in inside and "weight" in inside


def test_splits_that_depend_on_each_other_are_refused() -> None:
    traced = fx.symbolic_trace(program)
    with pytest.raises(RuntimeError, match="cycle"):
        module("passes.split_module").split_module(
            traced, traced, lambda node: 0 if node.name in ("add", "add_1") else 1
        )


def test_split_by_tags() -> None:
    traced = fx.symbolic_trace(program)
    for node in traced.graph.nodes:
        if node.op not in ("placeholder", "output"):
            node.tag = "first" if node.name in ("add", "relu", "sin") else "second"
    split, _ = module("passes.split_utils").split_by_tags(
        traced, ["first", "second"], return_fqn_mapping=True
    )
    values = numbers()
    assert same(split(*values), program(*values))
    assert [node.target for node in split.graph.find_nodes(op="call_module")] == ["first", "second"]


# Partitions
# ------------------------------------------------------------


class Supported:
    """Additions and relu."""

    def is_node_supported(self, submodules: Any, node: Any) -> bool:
        return node.op == "call_function" and node.target in (torch.relu, operator.add)


@pytest.mark.parametrize("horizontal", [True, False])
def test_partitioner(horizontal: bool) -> None:
    partitioner = module("passes.infra.partitioner").CapabilityBasedPartitioner(
        fx.symbolic_trace(program), Supported(), skip_horizontal_fusion=not horizontal
    )
    partitions = partitioner.propose_partitions()
    found = sorted(sorted(node.name for node in partition.nodes) for partition in partitions)
    late = ["add_1", "add_2", "add_3", "relu_1"] if horizontal else ["add_1", "add_2", "relu_1"]
    assert found == [["add", "relu"], late] or found == [late, ["add", "relu"]]

    fused = partitioner.fuse_partitions(partitions)
    values = numbers()
    assert same(fused(*values), program(*values))
    assert sum(node.op == "call_module" for node in fused.graph.nodes) == 2


def test_partitions_never_depend_on_themselves() -> None:
    """The first and the last addition cannot be one: the sine is between them."""

    def crossing(x: Any) -> Any:
        y = x + 1
        return torch.sin(y) + y

    partitioner = module("passes.infra.partitioner").CapabilityBasedPartitioner(
        fx.symbolic_trace(crossing), Supported(), allows_single_node_partition=True
    )
    fused = partitioner.partition_and_fuse()
    x = torch.rand(3)
    assert torch.equal(fused(x), crossing(x))
    assert sum(node.op == "call_module" for node in fused.graph.nodes) == 2


def test_operator_support() -> None:
    support = module("passes.operator_support")
    modules = dict(fx.symbolic_trace(Model()).named_modules())
    traced = fx.symbolic_trace(lambda x: torch.relu(x))
    relu = traced.graph.find_nodes(op="call_function", target=torch.relu)[0]
    known = support.OperatorSupport({"torch.relu": None})
    assert known.is_node_supported(modules, relu)
    assert not support.OperatorSupport({}).is_node_supported(modules, relu)

    module("passes.shape_prop").ShapeProp(traced).propagate(torch.ones(2))
    doubles = support.OperatorSupport({"torch.relu": (((torch.float64,),), {})})
    assert not doubles.is_node_supported(modules, relu)
    declined = support.OpSupports.decline_if_node_in_names({"relu"})
    assert not support.chain(known, declined).is_node_supported(modules, relu)
    assert support.any_chain(known, declined).is_node_supported(modules, relu)
    assert not support.OpSupports.decline_if_input_dtype(torch.float32).is_node_supported(modules, relu)


# Constants and common expressions
# ------------------------------------------------------------


class Constant(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Parameter(torch.rand(3))
        self.b = torch.nn.Parameter(torch.rand(3))

    def forward(self, x: Any) -> Any:
        return x * torch.relu(self.a + self.b) + self.a.sum() + self.b


def test_constant_folding() -> None:
    model = Constant()
    fold = module("experimental.const_fold").split_const_subgraphs
    folded = fold(model)
    targets = [node.target for node in folded.graph.nodes if node.op == "call_function"]
    assert torch.relu not in targets and not folded.has_folding_been_run
    x = torch.rand(3)
    assert torch.allclose(folded(x), model(x)) and folded.has_folding_been_run
    assert torch.allclose(folded(x), model(x))
    with pytest.raises(AssertionError):
        folded.run_folding()
    unfolded = fold(model, skip_folding_node_fn=lambda node: True)
    assert torch.allclose(unfolded(x), model(x)) and unfolded.const_subgraph_module is None


def test_common_expressions() -> None:
    def repeated(x: Any) -> Any:
        return torch.relu(x) + torch.relu(x), x.view(-1) + x.view(-1), x * 2 + x * 2

    run = module("passes.dialect.common.cse_pass").CSEPass()
    result = run(fx.symbolic_trace(repeated))
    assert result.modified and len(result.graph_module.graph.nodes) == 8
    x = torch.rand(3)
    assert same(result.graph_module(x), repeated(x))
    assert not run(result.graph_module).modified


@only_torch_py  # PyTorch merges them
def test_expressions_that_differ_are_kept() -> None:
    def program(x: Any) -> Any:
        y = x.add_(1) + x.add_(1)
        return y, torch.dropout(x, 0.5, True) + torch.dropout(x, 0.5, True), x * 2 + x * 2.0

    result = module("passes.dialect.common.cse_pass").CSEPass()(fx.symbolic_trace(program))
    assert not result.modified


# Fusion
# ------------------------------------------------------------


class Convolutional(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.norm = torch.nn.BatchNorm2d(2)
        self.block = torch.nn.Sequential(
            torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.Dropout()
        )
        self.linear = torch.nn.Linear(2, 2)
        self.last = torch.nn.BatchNorm1d(2)

    def forward(self, x: Any) -> Any:
        return self.last(self.linear(self.block(self.norm(self.conv(x))).mean((2, 3))))


def test_fuse() -> None:
    optimization = module("experimental.optimization")
    model = Convolutional()
    x = torch.rand(4, 1, 5, 5)
    for _ in range(3):
        model(x)
    with pytest.raises(AssertionError, match="eval"):
        optimization.fuse(model)

    model.eval()
    fused = optimization.fuse(model)
    kinds = [type(layer) for layer in fused.modules()]
    assert torch.nn.BatchNorm2d not in kinds and torch.nn.BatchNorm1d not in kinds
    assert torch.allclose(fused(x), model(x), atol=1e-5)
    assert isinstance(model.norm, torch.nn.BatchNorm2d)  # the model itself did not change

    without = optimization.remove_dropout(model)
    assert torch.nn.Dropout not in [type(layer) for layer in without.modules()]
    assert torch.equal(without(x), model(x))


def test_results_that_are_used_twice_are_not_fused() -> None:
    class Shared(Convolutional):
        def forward(self, x: Any) -> Any:
            y = self.conv(x)
            return self.norm(y) + y

    model = Shared().eval()
    fused = module("experimental.optimization").fuse(model)
    x = torch.rand(2, 1, 4, 4)
    assert torch.allclose(fused(x), model(x)) and isinstance(fused.norm, torch.nn.BatchNorm2d)


def test_extract_subgraph() -> None:
    model = Convolutional().eval()
    nodes = list(fx.symbolic_trace(model).graph.nodes)
    part = module("experimental.optimization").extract_subgraph(model, nodes[1:3], [nodes[0]], [nodes[2]])
    x = torch.rand(2, 1, 4, 4)
    assert torch.equal(part(x)[0], model.norm(model.conv(x)))


# Managers
# ------------------------------------------------------------


def test_pass_manager() -> None:
    manager = module("passes.infra.pass_manager")

    def replace(old: Any, new: Any) -> Any:
        def run(gm: Any) -> Any:
            for node in gm.graph.find_nodes(op="call_function", target=old):
                node.target = new

        return manager.pass_result_wrapper(run)

    one, other = replace(torch.relu, torch.tanh), replace(torch.tanh, torch.sin)
    before = manager.this_before_that_pass_constraint(one, other)
    passes = manager.PassManager([other, one], [before])
    with pytest.raises(RuntimeError, match="constraint violated"):
        passes.validate_constraints()
    result = passes(fx.symbolic_trace(lambda x: torch.relu(x)))
    assert result.modified and "torch.sin" in result.graph_module.code and passes.passes == [one, other]

    after = manager.this_before_that_pass_constraint(other, one)
    with pytest.raises(RuntimeError, match="Circular dependency"):
        manager.PassManager([one, other], [before, after])(fx.symbolic_trace(lambda x: x))


def test_checks_of_the_pass_manager() -> None:
    manager = module("passes.infra.pass_manager")
    passes = manager.PassManager(run_checks_after_each_pass=True)

    def check(module: torch.nn.Module) -> None:
        raise ValueError("wrong")

    passes.add_checks(check)
    with pytest.raises(ValueError, match="wrong"):
        passes(fx.symbolic_trace(lambda x: x))
    with pytest.raises(TypeError):
        passes.add_checks(lambda one, other: None)

    unwrapped = manager.PassManager([lambda module: 3])
    with pytest.raises(Exception, match="An error occurred when running the '<lambda>' pass") as raised:
        unwrapped(fx.symbolic_trace(lambda x: x))
    assert isinstance(raised.value.__cause__, TypeError)


def test_pass_base() -> None:
    base = module("passes.infra.pass_base")
    order = []

    class Pass(base.PassBase):
        def call(self, graph_module: Any) -> Any:
            order.append("call")
            return base.PassResult(graph_module, False)

        def requires(self, graph_module: Any) -> None:
            order.append("requires")

        def ensures(self, graph_module: Any) -> None:
            order.append("ensures")

    assert not Pass()(fx.symbolic_trace(lambda x: x)).modified
    assert order == ["requires", "call", "ensures"]


# Facts
# ------------------------------------------------------------


def test_sizes_of_nodes() -> None:
    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 2)))
    module("passes.graph_manipulation").get_size_of_all_nodes(traced, [torch.ones(4, 3)])
    sizes = [tuple(node.size_bytes) for node in traced.graph.nodes if node.op != "output"]
    assert sizes == [(48, 48), (32, 32 + 4 * 8)]


def test_topological_sort() -> None:
    traced = fx.symbolic_trace(program)
    nodes = {node.name: node for node in traced.graph.nodes}
    nodes["output"].prepend(nodes["a"])
    with pytest.raises(RuntimeError):
        traced.graph.lint()
    module("passes.tools_common").legalize_graph(traced).graph.lint()
    values = dict(zip("abc", numbers()))
    assert same(traced(**values), program(**values))


def test_targets_of_nodes() -> None:
    target = module("passes.tools_common").get_node_target
    traced = fx.symbolic_trace(Model())
    modules = dict(traced.named_modules())
    nodes = {node.name: node for node in traced.graph.nodes}
    assert target(modules, nodes["linear"]) == "torch.nn.modules.linear.Linear"
    assert target(modules, nodes["relu"]) == "torch.relu" and target(modules, nodes["add"]) == "_operator.add"
    with pytest.raises(AssertionError):
        target(modules, nodes["x"])


def test_types_of_items() -> None:
    graph = fx.Graph()
    pair = graph.placeholder("x", tuple[int, str])
    item = graph.call_function(operator.getitem, (pair, 1))
    graph.output(item)
    module("passes.annotate_getitem_nodes").annotate_getitem_nodes(graph)
    assert item.type is str


@pytest.mark.parametrize("only_names", [False, True])
def test_normal_form_of_arguments(only_names: bool) -> None:
    schemas = module("operator_schemas")
    x = torch.ones(2)
    found = schemas.normalize_function(
        torch.nn.functional.relu, (x,), normalize_to_only_use_kwargs=only_names
    )
    assert (found.kwargs["inplace"] is False) and bool(found.args) != only_names
    found = schemas.normalize_function(torch.cat, ([x, x],), normalize_to_only_use_kwargs=True)
    assert list(found.kwargs) == ["tensors", "dim"] and found.kwargs["dim"] == 0
    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    call = traced.graph.find_nodes(op="call_module")[0]
    found = call.normalized_arguments(traced, normalize_to_only_use_kwargs=True)
    assert list(found.kwargs) == ["input"]


@only_torch_py  # PyTorch needs pydot and Graphviz
def test_pictures(tmp_path: Any) -> None:
    drawer = module("passes.graph_drawer")
    traced = fx.symbolic_trace(Model())
    module("passes.shape_prop").ShapeProp(traced).propagate(torch.ones(2, 3), torch.ones(3))
    picture = drawer.FxGraphDrawer(traced, "model").get_dot_graph()
    picture.write_svg(tmp_path / "model.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "model.svg").getroot()
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"x", "linear", "f32[2, 3]"} <= set(texts)
    assert any("12 parameters" in text for text in texts)
    dot = picture.to_string()
    assert dot.startswith('digraph "model" {') and dot.count("->") == len(picture.picture.edges)
    assert "weight" not in drawer.FxGraphDrawer(traced, "m", ignore_getattr=True).get_dot_graph().to_string()


def test_older_pass_manager() -> None:
    older = module("passes.pass_manager")

    def add_note(gm: Any) -> None:
        gm.notes = [*getattr(gm, "notes", []), "note"]

    def check_note(gm: Any) -> Any:
        assert gm.notes
        return gm

    noted = older.inplace_wrapper(add_note)
    constraint = older.these_before_those_pass_constraint(add_note, check_note)
    manager = older.PassManager([check_note, noted], [constraint])
    with pytest.raises(RuntimeError, match="constraint violated"):
        manager(fx.symbolic_trace(lambda x: x))

    manager.remove_pass(["check_note"])
    manager.add_pass(check_note)
    repeated = older.loop_pass(noted, n_iter=2)
    manager.replace_pass(noted, older.log_hook(repeated))
    assert manager(fx.symbolic_trace(lambda x: x)).notes == ["note", "note"]
    with pytest.raises(AssertionError):
        older.loop_pass(noted)


class Layered(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return torch.sum(torch.nn.functional.relu(self.linear(x)), 0)


def test_normalized_arguments() -> None:
    traced = fx.symbolic_trace(Layered())
    normal = module("experimental.normalize").NormalizeArgs(traced).transform()
    calls = {node.name: node for node in normal.graph.nodes}
    assert not calls["relu"].args and calls["relu"].kwargs["inplace"] is False
    assert list(calls["linear"].kwargs) == ["input"] and calls["sum_1"].kwargs["keepdim"] is False
    x = torch.rand(3, 2)
    assert torch.equal(normal(x), traced(x))
    partly = module("experimental.normalize").NormalizeArgs(traced, normalize_to_only_use_kwargs=False)
    assert len(partly.transform().graph.find_nodes(op="call_module")[0].args) == 1


def test_rewritten_assertions() -> None:
    def function(x: Any) -> Any:
        assert x > 0, "must be positive"
        return x + 1

    rewriter = module("experimental.rewriter")
    tracer = rewriter.RewritingTracer()
    graph = tracer.trace(function)
    traced = fx.GraphModule(tracer.root, graph)
    assert traced(1) == 2
    with pytest.raises(AssertionError, match="must be positive"):
        traced(0)


@only_torch_py  # PyTorch does not find the names of the function around it
def test_rewritten_functions_keep_their_cells() -> None:
    offset = 2

    def function(x: Any) -> Any:
        y: int = x + offset
        return y

    graph = module("experimental.rewriter").RewritingTracer().trace(function)
    add = graph.find_nodes(op="call_function", target=operator.add)[0]
    assert add.args[1] == 2 and add.type is int


@only_torch_py  # PyTorch refuses modules with real parameters
def test_fake_tensors_show_values_without_computing():
    graph = fx.symbolic_trace(Model())
    fake = module("passes.fake_tensor_prop").FakeTensorProp(graph)

    result = fake.propagate(torch.ones(2, 3), torch.full((2, 3), float("nan")))

    shapes = {node.name: tuple(node.meta["val"].shape) for node in graph.graph.nodes if node.op != "output"}
    assert shapes["linear"] == (2, 3) and shapes["weight"] == (3,)
    assert all(type(value).__name__ == "FakeTensor" for value in result)
    assert type(graph.weight) is torch.nn.Parameter
