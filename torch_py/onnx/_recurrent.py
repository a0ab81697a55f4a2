"""LSTM, GRU and RNN layers: one ONNX node of the same name per layer, which computes both directions."""

from __future__ import annotations

from typing import Any

from torch_py.onnx._graph import Graph, Node
from torch_py.onnx._registry import rule
from torch_py.onnx._shapes import sliced

# The order of ONNX's gates, as positions in PyTorch's: (i, f, g, o) becomes (i, o, f, c), and (r, z, n)
# becomes (z, r, h).
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


@rule("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(g: Graph, n: Node) -> Any:
    if "batch_sizes" in n.arguments:
        raise n.unsupported("cannot be exported for a packed sequence")
    if n["train"] and n["dropout"] and n["num_layers"] > 1:
        raise n.unsupported("cannot be exported in training mode with dropout")

    own = n["input"]
    directions = 2 if n["bidirectional"] else 1
    is_batched = own.rank == 3
    batch_first = bool(n["batch_first"]) and own.rank == 3

    # ONNX expects (time, batch, features).
    value = own if is_batched else g.op("Unsqueeze", own, g.constant([1]))
    value = g.op("Transpose", value, perm=[1, 0, 2]) if batch_first else value
    states = list(n["hx"]) if n.name == "lstm" else [n["hx"]]
    names = [state.name if is_batched else g.op("Unsqueeze", state, g.constant([1])) for state in states]

    params = list(n["params"])
    per_layer = len(n["params"]) // n["num_layers"]
    ends: list[list[str]] = [[] for _ in names]
    for layer in range(n["num_layers"]):
        own_states = [sliced(g, name, 0, layer * directions, (layer + 1) * directions) for name in names]
        own_params = params[layer * per_layer : (layer + 1) * per_layer]
        value, last = _layer(g, n, value, own_params, own_states, directions)
        for kept, state in zip(ends, last):
            kept.append(state)

    finals = [parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=0) for parts in ends]
    if not is_batched:
        return (
            g.op("Squeeze", value, g.constant([1])),
            *(g.op("Squeeze", state, g.constant([1])) for state in finals),
        )

    return (g.op("Transpose", value, perm=[1, 0, 2]) if batch_first else value, *finals)


def _layer(
    g: Graph, n: Node, value: Any, params: list[Any], states: list[str], directions: int
) -> tuple[str, list[str]]:
    """The output (time, batch, directions * hidden) of one layer, and its final states."""
    per_direction = len(params) // directions
    groups = [params[i * per_direction : (i + 1) * per_direction] for i in range(directions)]
    hidden = groups[0][1].shape[1]
    if per_direction not in (2, 4):
        raise n.unsupported("cannot be exported with proj_size")

    op_type = {"lstm": "LSTM", "gru": "GRU"}.get(n.name, "RNN")
    weight, recurrence = (_joined(g, op_type, [group[i] for group in groups]) for i in (0, 1))
    bias = None
    if n["has_biases"]:
        rows = [g.op("Concat", *(_reordered(g, op_type, b) for b in group[2:4]), axis=0) for group in groups]
        bias = _stacked(g, rows)

    settings: dict[str, Any] = {
        "hidden_size": hidden,
        "direction": "bidirectional" if directions == 2 else "forward",
    }
    if op_type == "RNN":
        settings["activations"] = ["Tanh" if n.name == "rnn_tanh" else "Relu"] * directions
    if op_type == "GRU":
        settings["linear_before_reset"] = 1

    result, *last = g.op(
        op_type, value, weight, recurrence, bias, None, *states, outputs=1 + len(states), **settings
    )

    together = g.op("Transpose", result, perm=[0, 2, 1, 3])
    return g.op("Reshape", together, g.constant([0, 0, directions * hidden])), list(last)


def _reordered(g: Graph, kind: str, weight: Any) -> str:
    """A weight with its gates in ONNX's order."""
    gates = _GATES[kind]
    if len(gates) == 1:
        return str(weight.name)
    parts = g.op(
        "Split", weight, g.constant([weight.shape[0] // len(gates)] * len(gates)), outputs=len(gates), axis=0
    )
    return str(g.op("Concat", *(parts[place] for place in gates), axis=0))


def _joined(g: Graph, kind: str, weights: list[Any]) -> str:
    return _stacked(g, [_reordered(g, kind, weight) for weight in weights])


def _stacked(g: Graph, parts: list[str]) -> str:
    raised = [g.op("Unsqueeze", part, g.constant([0])) for part in parts]
    return raised[0] if len(raised) == 1 else str(g.op("Concat", *raised, axis=0))
