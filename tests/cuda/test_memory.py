"""Memory of devices: statistics, limits, pinned memory, raw memory."""

from __future__ import annotations

import gc
import pickle

import pytest

from tests.subject import torch


def test_statistics_follow_tensors():
    gc.collect()  # what earlier tests left in cycles must not be freed in between
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    held = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before >= 1 << 20
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()

    del held
    gc.collect()
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() >= before + (1 << 20)
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before
    assert torch.cuda.max_memory_allocated("cuda:0") == torch.accelerator.max_memory_allocated()


def test_statistics_have_pytorchs_names():
    torch.ones(3, device="cuda")
    found = torch.cuda.memory_stats()
    names = [
        f"{kind}.{pool}.{value}"
        for kind in ("allocated_bytes", "reserved_bytes", "allocation", "segment")
        for pool in ("all",)
        for value in ("current", "peak", "allocated", "freed")
    ]
    assert set(names) <= set(found) and list(found) == sorted(found)
    nested = torch.cuda.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == found["allocated_bytes.all.current"]
    torch.cuda.reset_accumulated_memory_stats()
    assert torch.cuda.memory_stats()["allocated_bytes.all.freed"] == 0


def test_summary_is_a_table():
    held = torch.ones(1 << 20, device="cuda")
    lines = torch.cuda.memory_summary().splitlines()
    assert {len(line) for line in lines} == {77}
    assert sum("Allocated memory" in line for line in lines) == 1
    assert len(torch.cuda.memory_summary(abbreviated=True)) < len(torch.cuda.memory_summary())
    del held


def test_free_and_total():
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total
    assert torch.accelerator.get_memory_info(0)[1] == total
    # Other processes may take and give back memory between the two calls.
    assert any(torch.cuda.device_memory_used() == total - torch.cuda.mem_get_info()[0] for _ in range(50))


def test_snapshot_is_readable(tmp_path):
    held = torch.ones(100, device="cuda")
    segments = torch.cuda.memory_snapshot()
    assert isinstance(segments, list) and pickle.dumps(segments)
    torch.cuda.memory._dump_snapshot(str(tmp_path / "snapshot"))
    loaded = pickle.loads((tmp_path / "snapshot").read_bytes())
    assert set(loaded) >= {"segments", "device_traces"}
    del held


def test_fraction_limits_memory():
    whole = torch.cuda.get_per_process_memory_fraction()
    try:
        torch.cuda.set_per_process_memory_fraction(0.5)
        assert torch.cuda.get_per_process_memory_fraction() == 0.5
        total = torch.cuda.mem_get_info()[1]
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(int(total * 0.6), dtype=torch.uint8, device="cuda")
    finally:
        torch.cuda.set_per_process_memory_fraction(whole)
    with pytest.raises(TypeError, match="float"):
        torch.cuda.set_per_process_memory_fraction(1)
    with pytest.raises(ValueError, match="Allowed range"):
        torch.cuda.set_per_process_memory_fraction(1.5)


def test_raw_memory():
    before = torch.cuda.memory_allocated()
    address = torch.cuda.caching_allocator_alloc(4096)
    assert address != 0 and torch.cuda.memory_allocated() >= before + 4096
    torch.cuda.caching_allocator_delete(address)
    assert torch.cuda.memory_allocated() == before
    with pytest.raises(RuntimeError, match="caching_allocator_delete"):
        torch.cuda.caching_allocator_delete(address)
    with pytest.raises(TypeError, match="stream argument"):
        torch.cuda.caching_allocator_alloc(16, stream="x")
    other = torch.cuda.caching_allocator_alloc(16, stream=torch.cuda.Stream())
    torch.cuda.caching_allocator_delete(other)


def test_pinned_memory():
    plain = torch.arange(12.0).reshape(3, 4).t()
    assert not plain.is_pinned()
    pinned = plain.pin_memory()
    assert pinned.is_pinned() and pinned.equal(plain) and pinned.stride() == plain.stride()
    assert pinned.pin_memory() is pinned and pinned.untyped_storage().is_pinned()

    for made in (
        torch.empty(3, pin_memory=True),
        torch.zeros(2, 2, pin_memory=True),
        torch.tensor([1, 2], pin_memory=True),
        torch.ones_like(plain, pin_memory=True),
        torch.arange(4, pin_memory=True),
    ):
        assert made.is_pinned() and made.is_cpu

    assert torch.tensor([1, 2], pin_memory=True).tolist() == [1, 2]
    copied = pinned.to("cuda", non_blocking=True)
    assert copied.cpu().equal(plain)

    with pytest.raises(RuntimeError, match="cannot pin"):
        torch.ones(2, device="cuda").pin_memory()
    with pytest.raises(RuntimeError, match="pinned"):
        torch.ones(2, device="cuda", pin_memory=True)


def test_statistics_of_pinned_memory():
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_accumulated_host_memory_stats()
    before = torch.cuda.host_memory_stats()
    assert list(before) == sorted(before)
    counters = {
        f"{name}.{value}"
        for name in ("active_bytes", "active_requests", "allocated_bytes", "allocations")
        for value in ("allocated", "current", "freed", "peak")
    }
    times = {
        f"host_{call}_time.{value}"
        for call in ("alloc", "free")
        for value in ("avg", "count", "max", "min", "total")
    }
    assert set(before) == counters | times | {"num_host_alloc", "num_host_free"}

    size = 48 << 20  # more than any test has pinned, so that the driver is asked
    held = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    during = torch.cuda.host_memory_stats()
    assert during["active_requests.current"] == before["active_requests.current"] + 1
    assert during["active_bytes.current"] - before["active_bytes.current"] >= size
    assert during["allocated_bytes.current"] - before["allocated_bytes.current"] >= size
    assert during["num_host_alloc"] == during["host_alloc_time.count"] == 1
    assert during["host_alloc_time.min"] == during["host_alloc_time.max"] == during["host_alloc_time.total"]

    del held
    after = torch.cuda.host_memory_stats_as_nested_dict()
    assert after["active_bytes"]["current"] == before["active_bytes.current"]
    assert after["active_bytes"]["peak"] >= during["active_bytes.current"]
    assert after["allocated_bytes"]["current"] == during["allocated_bytes.current"]  # cached
    torch.cuda.reset_peak_host_memory_stats()
    torch.cuda.reset_accumulated_host_memory_stats()
    last = torch.cuda.host_memory_stats()
    assert last["active_bytes.peak"] == last["active_bytes.current"]
    assert last["active_bytes.allocated"] == last["num_host_alloc"] == last["host_alloc_time.count"] == 0


def live_frames():
    """The names of the operators that allocated the blocks in use, by the size asked for."""
    found = {}
    for segment in torch.cuda.memory._snapshot()["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found.setdefault(block["requested_size"], []).extend(f["name"] for f in block["frames"])
    return found


def test_snapshots_name_operators():
    x = torch.ones(1001, device="cuda", requires_grad=True)
    held = [
        torch.zeros(1003, device="cuda"),
        torch.nn.functional.linear(x[:7].expand(9, 7), torch.ones(113, 7, device="cuda")),
        x.detach().exp(),
        torch.empty(1009, device="cuda"),
    ]
    (x * 2).sum().backward()
    frames = live_frames()
    assert frames[4 * 1003] == ["zeros"] and frames[4 * 1009] == ["empty"]
    assert frames[4 * 9 * 113] == ["linear"]  # what the program called, not what it is made of
    assert sorted(frames[4 * 1001]) == ["exp", "mul.Tensor", "ones"]
    assert torch.cuda.memory_snapshot() and all(each is not None for each in held)
    del held, x, frames


def test_a_shortage_names_the_largest_operators():
    gc.collect()
    size = 1 << 17
    held = [torch.zeros(4 * size, dtype=torch.uint8, device="cuda")]
    held.append(held[0].bitwise_not())
    held.append(held[0][: 3 * size].repeat(1))
    held.append(torch.cat([held[0], held[0]]))
    held += [torch.full((9 * size,), 1, dtype=torch.uint8, device="cuda") for _ in range(2)]
    held.append(held[0][: 2 * size].bool())
    total = torch.cuda.mem_get_info()[1]

    with pytest.raises(torch.OutOfMemoryError) as raised:
        torch.ones(2 * total, dtype=torch.uint8, device="cuda")
    text = str(raised.value)
    groups = text[text.index("by operator:") :].splitlines()[1:]
    assert [line.strip() for line in groups[:2]] == [
        "2.25 MiB in 2 blocks: full",
        "1.00 MiB in 1 block: cat",
    ]
    assert len(groups) == 5 and "outside of operators" not in text
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
        torch.empty(2 * total, dtype=torch.uint8, device="cuda")

    # An error leaves no operator behind.
    storage = torch.UntypedStorage(4 << 20, device="cuda")
    assert live_frames()[4 << 20].count("ones") == 0
    del held, storage


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.cuda.MemPool(),
        lambda: torch.cuda.use_mem_pool(None).__enter__(),
        lambda: torch.cuda.caching_allocator_enable(False),
        lambda: torch.cuda.change_current_allocator(None),
        lambda: torch.cuda.memory._record_memory_history(),
        lambda: torch.cuda.list_gpu_processes(),
        lambda: torch.cuda.set_sync_debug_mode("warn"),
        lambda: torch.cuda.cudart(),
    ],
)
def test_what_is_missing_says_so(call):
    with pytest.raises(NotImplementedError, match="torch"):
        call()


def test_host_fallbacks_are_counted():
    torch.cuda.reset_host_fallbacks()
    assert torch.cuda.host_fallbacks() == {}
    torch.linalg.qr(torch.eye(3, device="cuda"))
    torch.linalg.qr(torch.eye(3, device="cuda"))
    assert torch.cuda.host_fallbacks() == {"linalg_qr": 2}
