"""Graphs and nodes: creation, order, uses, changes, checks and tables."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

Graph = torch.fx.Graph
node = torch.fx.node


def chain() -> tuple[Any, Any, Any, Any]:
    """x, relu(x), relu(x) + 1, and the graph that returns it."""
    graph = Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    add = graph.call_function(operator.add, (relu, 1))
    graph.output(add)
    return graph, x, relu, add


# Names
# ------------------------------------------------------------


@pytest.mark.parametrize(
    "wanted, name",
    [
        ("x", "x"),
        ("class", "class_1"),
        ("print", "print_1"),
        ("foo.bar", "foo_bar"),
        ("1abc", "_1abc"),
        ("a b", "a_b"),
        ("torch", "torch_1"),
        ("inf", "inf_1"),
        ("NoneType", "none_type"),
        ("Conv2D", "conv2d"),
        ("BatchNorm2d", "batch_norm2d"),
        ("", "_unnamed"),
        ("*args", "_args"),
        ("**kwargs", "_kwargs"),
        ("é", "_"),
    ],
)
def test_names_are_valid_variables(wanted: str, name: str) -> None:
    assert Graph().placeholder(wanted).name == name


def test_names_are_unique() -> None:
    graph = Graph()
    names = [graph.placeholder(name).name for name in ("x", "x", "x_1", "x_1", "x_2", "relu_5", "relu_5")]
    assert names == ["x", "x_1", "x_2", "x_3", "x_4", "relu_5", "relu_6"]


def test_nodes_are_named_after_their_targets() -> None:
    graph = Graph()
    assert graph.call_function(torch.relu, (1,)).name == "relu"
    assert graph.call_function(operator.and_, (1, 2)).name == "and_"
    assert graph.call_function(lambda x: x, (1,)).name == "_lambda_"
    assert graph.call_method("__add__", (1,)).name == "add"
    assert graph.call_module("layers.0.Conv2D", (1,)).name == "layers_0_conv2d"
    assert graph.get_attr("layers.0.weight").name == "layers_0_weight"
    assert graph.create_node("call_function", torch.relu, (1,), name="my name").name == "my_name"


# Creation
# ------------------------------------------------------------


@pytest.mark.parametrize(
    "error, arguments",
    [
        (AssertionError, ("no_such_operation", "x")),
        (ValueError, ("call_function", "x")),
        (ValueError, ("call_method", torch.relu)),
        (AssertionError, ("call_function", 3)),
        (AssertionError, ("call_function", torch.relu, [1])),
        (AssertionError, ("call_function", torch.relu, (1,), [3])),
    ],
)
def test_wrong_nodes_are_refused(error: type[Exception], arguments: Any) -> None:
    with pytest.raises(error):
        Graph().create_node(*arguments)


def test_arguments_cannot_be_changed_in_place() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    call = graph.call_function(torch.cat, ([x, {"a": x}],))
    for change in (
        lambda: call.args[0].append(x),
        lambda: call.args[0].__setitem__(0, 1),
        lambda: call.args[0][1].update(b=1),
        lambda: call.args[0][1].pop("a"),
    ):
        with pytest.raises(TypeError, match="does not support mutation"):
            change()
    assert isinstance(call.args[0], list) and isinstance(call.args[0][1], dict)


def test_immutable_collections_pickle_and_hash() -> None:
    collections = torch.fx.immutable_collections
    items = collections.immutable_list([1, collections.immutable_dict({"a": 2})])
    assert pickle.loads(pickle.dumps(items)) == [1, {"a": 2}]
    assert hash(items) == hash(pickle.loads(pickle.dumps(items)))


def test_map_arg_and_map_aggregate() -> None:
    graph, x, relu, _ = chain()
    nest = (x, [relu, 1], {"k": slice(x, None)}, "text")
    assert node.map_arg(nest, lambda each: each.name) == ("x", ["relu", 1], {"k": slice("x", None)}, "text")
    assert node.map_aggregate([1, (2,)], lambda leaf: leaf + 1) == [2, (3,)]


# Uses
# ------------------------------------------------------------


def test_users_follow_the_arguments() -> None:
    graph, x, relu, add = chain()
    assert list(x.users) == [relu] and relu.all_input_nodes == [x]
    add.args = (x, relu)
    assert list(x.users) == [relu, add] and add.all_input_nodes == [x, relu]
    add.kwargs = {"k": [relu]}
    add.args = ()
    assert list(x.users) == [relu] and list(relu.users) == [add]

    add.insert_arg(0, 5)
    add.update_arg(0, x)
    add.update_kwarg("k", 3)
    assert add.args == (x,) and add.kwargs == {"k": 3} and not relu.users
    with pytest.raises(IndexError):
        add.update_arg(7, 1)
    with pytest.raises(AssertionError):
        add.insert_arg(-1, 1)


def test_replacing_uses() -> None:
    graph, x, relu, add = chain()
    with graph.inserting_after(relu):
        tanh = graph.call_function(torch.tanh, (relu,))
    assert relu.replace_all_uses_with(tanh, lambda user: user is not tanh) == [add]
    assert add.args == (tanh, 1) and list(relu.users) == [tanh]
    add.replace_input_with(tanh, x)
    assert add.args == (x, 1) and not tanh.users

    relu.meta["a"] = 1
    relu.replace_all_uses_with(x, propagate_meta=True)
    assert x.meta == {"a": 1}
    with pytest.raises(AssertionError, match="propagate_meta"):
        relu.replace_all_uses_with(x, propagate_meta=True)


# Order
# ------------------------------------------------------------


def test_insert_points() -> None:
    graph, x, relu, add = chain()
    with graph.inserting_before(add):
        first = graph.call_function(torch.tanh, (relu,))
        second = graph.call_function(torch.sin, (first,))
    with graph.inserting_after(x):
        late = graph.call_function(torch.cos, (x,))
        early = graph.call_function(torch.exp, (x,))
    with graph.inserting_before():
        start = graph.placeholder("start")
    names = [each.name for each in graph.nodes]
    assert names == ["start", "x", "exp", "cos", "relu", "tanh", "sin", "add", "output"]
    assert start < x < early < late < first < second and not second < first
    assert [each.name for each in reversed(graph.nodes)] == names[::-1] and len(graph.nodes) == 9

    graph.inserting_before(add)  # from now on
    assert graph.call_function(torch.abs, (relu,)).next is add


def test_moving_nodes() -> None:
    graph, x, relu, add = chain()
    extra = graph.placeholder("extra")
    x.append(extra)
    assert x.next is extra and extra.prev is x and x < extra < relu
    x.prepend(extra)
    assert extra.next is x and extra < x
    x.prepend(x)
    assert extra.next is x
    with pytest.raises(AssertionError):
        x.append(Graph().placeholder("y"))
    with pytest.raises(AssertionError):
        graph.inserting_before(Graph().placeholder("y"))


def test_a_thousand_insertions_at_one_place_keep_the_order() -> None:
    graph, x, relu, _ = chain()
    with graph.inserting_before(relu):
        nodes = [graph.call_function(torch.tanh, (x,)) for _ in range(1000)]
    assert nodes == sorted(reversed(nodes)) and x < nodes[0] and nodes[-1] < relu


# Changes
# ------------------------------------------------------------


def test_erasing() -> None:
    graph, x, relu, add = chain()
    with pytest.raises(RuntimeError, match=r"Tried to erase Node relu but it still had 1 users"):
        graph.erase_node(relu)
    add.args = (x, 1)
    graph.erase_node(relu)
    assert len(graph.nodes) == 3 and list(x.users) == [add]
    with pytest.warns(UserWarning, match="already erased"):
        graph.erase_node(relu)
    with pytest.raises(RuntimeError, match="wrong graph"):
        graph.erase_node(Graph().placeholder("y"))


def test_nodes_may_be_erased_and_added_during_an_iteration() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    calls = [graph.call_function(torch.relu, (x,)) for _ in range(5)]
    seen = []
    for each in graph.nodes:
        seen.append(each.name)
        if each.op == "call_function":
            graph.erase_node(each)
    assert seen == ["x", *(call.name for call in calls)] and len(graph.nodes) == 1


def test_dead_code() -> None:
    graph, x, relu, add = chain()
    with graph.inserting_before(add):
        dead = graph.call_function(torch.tanh, (relu,))
        graph.call_function(torch.sin, (dead,))
        kept = graph.call_function(torch._assert, (relu, "text"))
        random = graph.call_function(torch.rand, (3,))
    assert graph.eliminate_dead_code()
    names = [each.name for each in graph.nodes]
    assert names == ["x", "relu", kept.name, random.name, "add", "output"]
    assert not graph.eliminate_dead_code()
    assert graph.eliminate_dead_code(lambda each: each.op in ("placeholder", "output"))
    assert [each.name for each in graph.nodes] == ["x", "relu", "add", "output"]


def test_functions_with_side_effects() -> None:
    def log(x: Any) -> Any:
        return x

    graph = Graph()
    call = graph.call_function(log, (graph.placeholder("x"),))
    assert not call.is_impure()
    assert torch.fx.has_side_effect(log) is log
    assert call.is_impure() and graph.call_function(operator.setitem, (call, 0, 1)).is_impure()
    node._side_effectful_functions.discard(log)


@pytest.mark.parametrize(
    ("name", "is_random"),
    [
        *((name, True) for name in ("rand", "randn_like", "randint", "randperm", "normal", "bernoulli")),
        *((name, False) for name in ("dropout", "rrelu", "ones", "add")),
    ],
)
def test_random_functions_have_an_effect(name: str, is_random: bool) -> None:
    graph = Graph()
    call = graph.call_function(getattr(torch, name), ())
    assert call.is_impure() is is_random and call.is_impure(impure_random=False) is is_random


def test_functions_die_with_their_graphs() -> None:
    graph = Graph()
    call = graph.call_function(lambda: None, ())
    function = weakref.ref(call.target)
    assert not call.is_impure()
    del graph, call
    gc.collect()
    assert function() is None


def test_random_operators_have_an_effect_on_request() -> None:
    graph = Graph()
    for operator_, is_random in ((torch.ops.aten.dropout.default, True), (torch.ops.aten.add.Tensor, False)):
        call = graph.call_function(operator_, ())
        assert call.is_impure() is is_random and not call.is_impure(impure_random=False)


def test_find_nodes() -> None:
    graph, x, relu, add = chain()
    again = graph.call_function(torch.relu, (x,))
    relu.prepend(again)
    find = graph.find_nodes
    assert find(op="call_function", target=torch.relu) == [again, relu]
    assert find(op="call_function", target=torch.relu, sort=False) == [relu, again]
    assert find(op="placeholder") == [x] and find(op="placeholder", target="y") == []
    with pytest.raises(AssertionError):
        find(op="call_function")
    relu.target = torch.tanh
    graph.erase_node(again)
    assert find(op="call_function", target=torch.relu) == []
    assert find(op="call_function", target=torch.tanh) == [relu]


def test_output_node() -> None:
    graph, _, _, add = chain()
    assert graph.output_node().args == (add,)
    with pytest.raises(StopIteration):
        Graph().output_node()


# Checks
# ------------------------------------------------------------


def test_lint_finds_wrong_graphs() -> None:
    graph, x, relu, add = chain()
    graph.lint()
    relu.append(x)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()

    other = Graph()
    graph, x, relu, add = chain()
    add.args = (other.placeholder("y"), 1)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()

    graph, x, relu, add = chain()
    add.name = "relu"
    with pytest.raises(RuntimeError, match="redefined name relu"):
        graph.lint()


def test_lint_finds_nodes_that_are_gone_or_their_own_arguments() -> None:
    graph, x, relu, add = chain()
    relu.replace_all_uses_with(x)
    graph.erase_node(relu)
    add.args = (relu, 1)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()

    add.args = (add, 1)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()


def test_lint_finds_missing_targets() -> None:
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    module.graph.lint()
    next(iter(module.graph.find_nodes(op="call_module"))).target = "nothing"
    with pytest.raises(RuntimeError, match="nonexistent attribute nothing"):
        module.graph.lint()


# Copies
# ------------------------------------------------------------


def test_copies() -> None:
    graph, x, relu, add = chain()
    relu.meta["a"] = [1]
    copied = copy.deepcopy(graph)
    assert str(copied) == str(graph) and copied.nodes is not graph.nodes
    assert [each.meta for each in copied.nodes] == [each.meta for each in graph.nodes]
    assert not {*copied.nodes} & {*graph.nodes}

    joined = Graph()
    y = joined.placeholder("y")
    result = joined.graph_copy(graph, {x: y})
    joined.output(result)
    joined.lint()
    assert [each.name for each in joined.nodes] == ["y", "relu", "add", "output"]
    with pytest.raises(KeyError):
        Graph().node_copy(relu, {}.__getitem__)


@only_torch_py
def test_pickled_graphs_keep_names_and_targets() -> None:
    graph, _, relu, _ = chain()
    relu.name = "renamed"
    restored = pickle.loads(pickle.dumps(graph))
    assert str(restored) == str(graph)
    assert restored.find_nodes(op="call_function", target=torch.relu)


# Tables
# ------------------------------------------------------------


def test_text() -> None:
    graph = Graph()
    x = graph.placeholder("x", torch.Tensor)
    graph.placeholder("y", int, default_value=3)
    weight = graph.get_attr("a.weight")
    call = graph.call_function(torch.cat, ([x, weight],), {"dim": 0})
    item = graph.call_function(operator.getitem, (call, (slice(None), ..., 1)))
    shape = graph.call_function(getattr, (item, "shape"))
    view = graph.call_method("view", (shape, -1))
    graph.output((graph.call_module("a.0", (view,)), {"k": view}))

    assert str(graph) == (
        "graph():\n"
        "    %x : torch.Tensor [num_users=1] = placeholder[target=x]\n"
        "    %y : int [num_users=0] = placeholder[target=y](default=3)\n"
        "    %a_weight : [num_users=1] = get_attr[target=a.weight]\n"
        "    %cat : [num_users=1] = call_function[target=torch.cat]"
        "(args = ([%x, %a_weight],), kwargs = {dim: 0})\n"
        "    %getitem : [num_users=1] = call_function[target=operator.getitem]"
        "(args = (%cat, (slice(None, None, None), Ellipsis, 1)), kwargs = {})\n"
        "    %getattr_1 : [num_users=1] = call_function[target=builtins.getattr]"
        "(args = (%getitem, shape), kwargs = {})\n"
        "    %view : [num_users=2] = call_method[target=view](args = (%getattr_1, -1), kwargs = {})\n"
        "    %a_0 : [num_users=1] = call_module[target=a.0](args = (%view,), kwargs = {})\n"
        "    return (a_0, {'k': view})"
    )


@only_torch_py  # PyTorch needs the package tabulate for it
def test_print_tabular(capsys: Any) -> None:
    chain()[0].print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert lines[1].startswith("-------------  ------")
    assert lines[2].split() == ["placeholder", "x", "x", "()", "{}"]
    assert len(lines) == 6


# Large and hostile
# ------------------------------------------------------------


def test_deep_graphs() -> None:
    graph = Graph()
    value = graph.placeholder("x")
    for _ in range(10_000):
        value = graph.call_function(torch.neg, (value,))
    graph.output(value)
    graph.lint()
    module = torch.fx.GraphModule({}, graph)
    x = torch.ones(2)
    assert torch.equal(module(x), x) and torch.equal(torch.fx.Interpreter(module).run(x), x)
    copied = copy.deepcopy(module)
    assert len(copied.graph.nodes) == 10_002
    assert len(pickle.loads(pickle.dumps(module)).graph.nodes) == 10_002
    graph.output_node().args = (next(iter(graph.nodes)),)
    assert graph.eliminate_dead_code() and len(graph.nodes) == 2


@only_torch_py
def test_cyclic_arguments_are_refused() -> None:
    nest: list[Any] = [1]
    nest.append(nest)
    graph = Graph()
    with pytest.raises(ValueError, match="contain themselves"):
        graph.call_function(torch.cat, (nest,))
