"""Memory of a device in other processes."""

from __future__ import annotations

from typing import Any

from tests.subject import torch


def child(connection: Any) -> None:
    tensor, part = connection.recv()
    tensor.add_(1)
    torch.cuda.synchronize()
    connection.send((tensor.device.index, tensor.tolist(), part.tolist()))
    connection.recv()
    del tensor, part
    connection.send("closed")
    connection.recv()


def test_processes_share_memory():
    context = torch.multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs,))
    process.start()
    try:
        tensor = torch.arange(4.0, device="cuda")
        assert tensor.is_shared() and tensor.share_memory_() is tensor
        ours.send((tensor, tensor[2:]))
        assert ours.poll(60), "the other process did not answer"
        assert ours.recv() == (0, [1.0, 2.0, 3.0, 4.0], [3.0, 4.0])
        assert tensor.tolist() == [1.0, 2.0, 3.0, 4.0]

        from torch_py.cuda import _sharing

        assert len(_sharing._sent) > 0
        ours.send("close")
        assert ours.poll(60) and ours.recv() == "closed"
        torch.cuda.ipc_collect()
        assert len(_sharing._sent) == 0
    finally:
        ours.send("end")
        process.join(30)
    assert process.exitcode == 0


def test_empty_tensors():
    context = torch.multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    queue.put(torch.empty(0, 3, device="cuda"))
    back = queue.get()
    assert back.shape == (0, 3) and back.device == torch.device("cuda", 0)
