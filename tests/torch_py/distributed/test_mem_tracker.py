"""MemTracker: what memory is used for at each step of training, as PyTorch counts it."""

from __future__ import annotations

import gc
import importlib
import re
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

mem_tracker = importlib.import_module(f"{torch.__name__}.distributed._tools.mem_tracker")
MemTracker = mem_tracker.MemTracker


def kinds(tracker: Any, when: str = "current") -> dict[str, int]:
    found = tracker.get_tracker_snapshot(when).get(torch.device("cpu"), {})
    return {str(getattr(kind, "value", kind)): size for kind, size in found.items() if size}


def test_a_step_of_training():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    weights = 4 * sum(p.numel() for p in model.parameters())
    tracker = MemTracker()
    tracker.track_external(model, optimizer)

    with tracker:
        x = torch.randn(16, 64)
        loss = model(x).sum()
        # x, the result of ReLU, and the loss.
        assert kinds(tracker) == {"Parameter": weights, "Activation": 8196, "Total": weights + 8196}
        loss.backward()
        assert kinds(tracker) == {
            "Parameter": weights,
            "Gradient": weights,
            "Activation": 4100,
            "Total": 2 * weights + 4100,
        }

        optimizer.step()
        assert kinds(tracker)["Optstate"] == 2 * weights + 4 * 4  # two averages, and a counter for each
        optimizer.zero_grad()
        assert "Gradient" not in kinds(tracker)

    peak = kinds(tracker, "peak")
    assert peak["Gradient"] == weights and peak["Total"] >= 4 * weights


def test_views_are_counted_once_and_freed_with_the_last():
    with MemTracker() as tracker:
        x = torch.ones(100)
        view = x[10:].view(9, 10)
        assert kinds(tracker)["Total"] == 400
        del x
        assert kinds(tracker)["Total"] == 400
        del view
        assert "Total" not in kinds(tracker)
        assert kinds(tracker, "peak")["Total"] == 400


@only_torch_py
def test_what_was_made_outside_is_counted_on_request():
    outside = torch.ones(100)
    tracker = MemTracker()
    with tracker:
        part = outside[:50]
        assert not kinds(tracker)
    tracker.track_external(outside)
    assert kinds(tracker) == {"Other": 400, "Total": 400} and part.shape == (50,)


def test_buffers():
    norm = torch.nn.BatchNorm1d(10)
    tracker = MemTracker()
    tracker.track_external(norm)
    assert kinds(tracker) == {"Parameter": 80, "Buffer": 88, "Total": 168}


def test_text(capsys: pytest.CaptureFixture[str]):
    model = torch.nn.Sequential(torch.nn.Linear(256, 256))
    with MemTracker() as tracker:
        model(torch.ones(2, 256)).sum().backward()
    tracker.display_snapshot("peak", units="KiB")
    assert re.search(r"Device: cpu\n\s*Parameter: 257.0 KiB\n", capsys.readouterr().out)
    tracker.display_modulewise_snapshots(depth=1, units="KiB")
    shown = capsys.readouterr().out
    assert "Sequential" in shown and "Pre-Forward" in shown and "Pre-Backward" in shown
    assert "Sequential.0" not in shown
    tracker.reset_mod_stats()
    tracker.display_modulewise_snapshots()
    assert "Sequential" not in capsys.readouterr().out


@only_torch_py
def test_wrong_arguments():
    tracker = MemTracker()
    with pytest.raises(TypeError, match="got int"):
        tracker.track_external(3)
    with pytest.raises(ValueError, match="Invalid type 'no'"):
        tracker.get_tracker_snapshot("no")
    with pytest.raises(ValueError, match="Unsupported unit"):
        tracker.display_snapshot(units="kB")


def test_multi_grad_hooks_do_not_keep_gradients():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    seen: list[Any] = []
    for mode in ("all", "any"):
        torch.autograd.graph.register_multi_grad_hook(
            [y],
            lambda grads: seen.append(weakref.ref(grads[0] if isinstance(grads, list) else grads)),
            mode=mode,
        )
    (y * y).sum().backward()
    gc.collect()
    assert len(seen) == 2 and [reference() for reference in seen] == [None, None]


@only_torch_py
def test_memory_after_each_operator(tmp_path: Any, capsys: pytest.CaptureFixture[str]):
    from torch_py.distributed._tools import MemoryTracker

    model = torch.nn.Sequential(torch.nn.Linear(256, 256, bias=False), torch.nn.Tanh())
    tracker = MemoryTracker()
    tracker.start_monitor(model)
    model(torch.ones(64, 256)).sum().backward()
    tracker.stop()

    rows = list(tracker.memories_allocated.values())
    sizes = dict(rows)
    assert sizes["Sequential.1.forward.tanh_1"] == (256 * 256 + 3 * 64 * 256) * 4 / 2**20
    assert any(".backward." in name for name in sizes) and max(sizes.values()) > 0.5

    tracker.summary(top=2)
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("Top 2") and len(shown) == 3
    tracker.save_stats(str(tmp_path / "stats"))
    again = MemoryTracker()
    again.load(str(tmp_path / "stats"))
    assert list(again.memories_allocated.values()) == rows
    with pytest.raises(RuntimeError, match="does not record"):
        tracker.stop()
