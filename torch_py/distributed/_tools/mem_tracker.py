"""`MemTracker`: what the memory of a program is used for, in all and by module."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.distributed._tools._ledger import Ledger, Snapshot, _MemRefType
from torch_py.nn.modules.module import Module
from torch_py.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils._pytree import tree_leaves
from torch_py.utils.module_tracker import ModuleTracker

__all__ = ["MemTracker"]

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


class MemTracker(TorchDispatchMode):
    """Counts the memory of the tensors that are made inside ``with MemTracker() as tracker:``.

    Memory is a parameter, a buffer, a gradient, the state of an optimizer, a temporary of a backward pass, or
    else an activation. Modules and optimizers that existed before are counted once a module runs, or after
    `track_external`. What a kernel allocates and frees before it returns is not seen.

        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        with tracker:
            model(x).sum().backward()
            optimizer.step()
        tracker.display_snapshot("peak", units="MiB")
    """

    def __init__(self) -> None:
        super().__init__()
        self._ledger = Ledger()
        self._optimizing = False
        self._handles: list[Any] = []
        self._hooked: set[int] = set()
        self._modules = _Modules(self)
        # By name of the module: its snapshots before and after each run, forward and backward.
        self.memory_tracking: dict[str, dict[str, list[Snapshot]]] = defaultdict(lambda: defaultdict(list))

    def track_external(self, *external: Any) -> None:
        """Counts modules, optimizers and tensors that were made outside of the block.

        Raises TypeError for other objects.
        """
        for one in external:
            if isinstance(one, Module):
                self._track_module(one)
            elif isinstance(one, Optimizer):
                self._track_state(one)
            elif isinstance(one, Tensor):
                self._ledger.note(one, _MemRefType.OTHER)
            else:
                raise TypeError(
                    "track_external(): expected modules, optimizers and tensors, but got "
                    f"{type(one).__name__}"
                )

    def get_tracker_snapshot(self, type: str = "current") -> Snapshot:
        """The bytes in use by device and kind, "current" or at the "peak", which is one of each device.

        Raises ValueError for another `type`.
        """
        if type not in ("current", "peak"):
            raise ValueError(f"Invalid type {type!r}: expected 'current' or 'peak'")
        return self._ledger.snapshot() if type == "current" else dict(self._ledger.peak)

    def display_snapshot(self, type: str = "current", units: str = "B", tabulate: bool = False) -> None:
        """Prints a snapshot in B, KiB, MiB or GiB."""
        print(_text_of(self.get_tracker_snapshot(type), units, tabulate))

    def display_modulewise_snapshots(self, depth: int = 2, units: str = "B", tabulate: bool = False) -> None:
        """Prints the snapshots of modules, down to `depth` levels."""
        for name, states in self.memory_tracking.items():
            if name.count(".") >= depth:
                continue
            print(f"Module:  {name}")
            for state, snapshots in states.items():
                print(state)
                for number, snapshot in enumerate(snapshots, 1):
                    print(f"# {number}:\n{_text_of(snapshot, units, tabulate)}")

    def reset_mod_stats(self) -> None:
        """Forgets the snapshots of modules."""
        self.memory_tracking.clear()

    def __enter__(self) -> MemTracker:
        self._handles = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]
        self._modules.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._modules.__exit__(*exception)
        for handle in self._handles:
            handle.remove()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and not self._is_outside(leaf, given):
                self._ledger.note(leaf, self._kind())
        return result

    def _is_outside(self, tensor: Tensor, given: list[Tensor]) -> bool:
        """Whether a result is a view of an argument that is not counted."""
        if tensor.is_meta or self._ledger.knows_memory_of(tensor):
            return tensor.is_meta
        address = tensor.untyped_storage()._address()
        return any(not one.is_meta and one.untyped_storage()._address() == address for one in given)

    def _kind(self) -> _MemRefType:
        if self._optimizing:
            return _MemRefType.OPT
        return _MemRefType.TEMP if _C._current_graph_task_id() != -1 else _MemRefType.ACT

    def _track_module(self, module: Module) -> None:
        for parameter in module.parameters():
            self._ledger.label(parameter, _MemRefType.PARAM)
            if parameter.grad is not None:
                self._ledger.label(parameter.grad, _MemRefType.GRAD)
            if parameter.requires_grad and id(parameter) not in self._hooked:
                self._hooked.add(id(parameter))
                parameter.register_post_accumulate_grad_hook(self._after_gradient)
        for buffer in module.buffers():
            self._ledger.label(buffer, _MemRefType.BUFFER)

    def _after_gradient(self, parameter: Tensor) -> None:
        if parameter.grad is not None:
            self._ledger.label(parameter.grad, _MemRefType.GRAD)

    def _track_state(self, optimizer: Any) -> None:
        for value in tree_leaves([dict(state) for state in optimizer.state.values()]):
            if isinstance(value, Tensor):
                self._ledger.label(value, _MemRefType.OPT)

    def _before_step(self, optimizer: Any, *_: Any) -> None:
        self._optimizing = True

    def _after_step(self, optimizer: Any, *_: Any) -> None:
        self._optimizing = False
        self._track_state(optimizer)


class _Modules(ModuleTracker):
    """Takes a snapshot when a module begins and ends."""

    def __init__(self, tracker: MemTracker) -> None:
        super().__init__()
        self._tracker = tracker

    def _before(self, module: Any, inputs: Any) -> None:
        self._tracker._track_module(module)
        super()._before(module, inputs)

    def _enter(self, name: str) -> None:
        self._note(name, "Pre")
        super()._enter(name)

    def _leave(self, name: str) -> None:
        self._note(name, "Post")
        super()._leave(name)

    def _note(self, name: str, moment: str) -> None:
        state = f"{moment}-{'Backward' if self.is_bw else 'Forward'}"
        self._tracker.memory_tracking[name][state].append(self._tracker.get_tracker_snapshot())


def _text_of(snapshot: Snapshot, units: str, tabulate: bool) -> str:
    if units not in _UNITS:
        raise ValueError(f"Unsupported unit: {units}. Supported units are: {list(_UNITS)}")
    scale = _UNITS[units]

    lines = []
    for device, kinds in snapshot.items():
        words = {getattr(kind, "value", kind): round(size / scale, 2) for kind, size in kinds.items()}
        if tabulate:
            lines.append(
                f"{device!s:<8} " + "  ".join(f"{word} {size} {units}" for word, size in words.items())
            )
            continue
        lines.append(f"Device: {device}")
        lines += [f"\t{word}: {size} {units}" for word, size in words.items()]
    return "\n".join(lines)
