"""torch.multiprocessing: tensors through queues and pipes, groups of processes, shared training."""

from __future__ import annotations

import gc
import importlib
import inspect
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

mp: Any = importlib.import_module(f"{torch.__name__}.multiprocessing")
SECONDS = 120  # for processes on a busy machine
METHODS = ["fork", "spawn", "forkserver"]


class Node(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.register_buffer("count", torch.zeros(1))


def finish(process: Any) -> None:
    process.join(SECONDS)
    alive = process.is_alive()
    process.kill()
    assert not alive and process.exitcode == 0


def receive_and_write(inbox: Any, outbox: Any) -> None:
    tensor, view, parameter, model, storage = inbox.get()
    same = tensor.untyped_storage().data_ptr() == view.untyped_storage().data_ptr() == storage.data_ptr()

    facts = [
        same,
        type(parameter).__name__,
        parameter.is_leaf,
        parameter.requires_grad,
        tensor.is_shared(),
        view.tolist(),
    ]

    tensor.add_(1)
    with torch.no_grad():
        parameter.fill_(5)
        model.layer.weight.fill_(7)
    model.count.add_(1)

    outbox.put(facts)
    outbox.put(tensor * 2)
    assert inbox.get() == "end"  # keeps this process alive until the other side has received the tensors


@pytest.mark.parametrize("method", METHODS)
def test_memory_goes_through_queues(method: str) -> None:
    context = mp.get_context(method)
    there, back = context.Queue(), context.Queue()
    tensor = torch.zeros(5)
    parameter = torch.nn.Parameter(torch.ones(2))
    model = Node()
    process = context.Process(target=receive_and_write, args=(there, back))

    process.start()
    there.put((tensor, tensor[2:], parameter, model, tensor.untyped_storage()))

    assert back.get(timeout=SECONDS) == [True, "Parameter", True, True, True, [0, 0, 0]]
    assert tensor.tolist() == [1] * 5 and parameter.tolist() == [5, 5]
    assert model.layer.weight.tolist() == [[7, 7]] and model.count.item() == 1

    answer = back.get(timeout=SECONDS)
    assert answer.tolist() == [2] * 5 and answer.is_shared()

    there.put("end")
    finish(process)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(6).reshape(2, 3).t(),
        lambda: torch.ones(3, dtype=torch.bfloat16),
        lambda: torch.tensor([True, False]),
        lambda: torch.tensor(3 + 4j),
        lambda: torch.empty(0, 3),
        lambda: torch.arange(10.0)[3:7:2],
        lambda: torch.ones(2, requires_grad=True),
        lambda: torch.nn.Parameter(torch.ones(2), requires_grad=False),
        lambda: torch.ones(2).expand(3, 2),
    ],
)
def test_a_tensor_arrives_as_it_was(make: Any) -> None:
    sender, receiver = mp.Pipe()
    tensor = make()
    sender.send([tensor, tensor])
    assert receiver.poll(SECONDS)
    arrived, again = receiver.recv()
    assert arrived is again and type(arrived) is type(tensor)
    assert torch.equal(arrived, tensor) and arrived.dtype == tensor.dtype
    assert arrived.stride() == tensor.stride() and arrived.requires_grad == tensor.requires_grad
    assert tensor.numel() == 0 or arrived.data_ptr() == tensor.data_ptr()  # the same memory, and mapped once


def test_a_result_of_operators_stays() -> None:
    sender, receiver = mp.Pipe()
    result = torch.ones(2, requires_grad=True) * 2
    message = "Cowardly refusing to serialize non-leaf tensor which requires_grad"
    with pytest.raises(RuntimeError, match=message):
        sender.send(result)
    sender.send(result.detach())
    assert receiver.recv().tolist() == [2, 2]


def double(tensor: Any) -> Any:
    return tensor * 2


def test_pool_and_manager() -> None:
    with mp.get_context("fork").Pool(2) as pool:
        results = pool.map_async(double, [torch.ones(3), torch.zeros(2)]).get(SECONDS)
    assert [result.tolist() for result in results] == [[2, 2, 2], [0, 0]]
    with mp.get_context("fork").Manager() as manager:
        shared = manager.dict()
        shared["x"] = torch.ones(2)
        assert shared["x"].tolist() == [1, 1]


def one_process(index: int, shared: Any, what: str) -> None:
    shared[index] = index + 1
    if index == 1:
        if what == "raise":
            raise ValueError("the second one fails")
        if what == "exit":
            sys.exit(3)
        if what == "signal":
            os.kill(os.getpid(), signal.SIGKILL)
    if what == "wait" or (what != "return" and index == 0):
        time.sleep(1000)  # the failure of another process ends this one


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_started_together(method: str) -> None:
    shared = torch.zeros(3).share_memory_()
    assert mp.start_processes(one_process, args=(shared, "return"), nprocs=3, start_method=method) is None
    assert shared.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("what", "kind", "message", "attributes"),
    [
        (
            "raise",
            "ProcessRaisedException",
            "(?s)Process 1 terminated with the following error:.*one_process.*ValueError: the second one "
            "fails",
            {},
        ),
        (
            "exit",
            "ProcessExitedException",
            "process 1 terminated with exit code 3",
            {"exit_code": 3, "signal_name": None},
        ),
        (
            "signal",
            "ProcessExitedException",
            "process 1 terminated with signal SIGKILL",
            {"exit_code": -9, "signal_name": "SIGKILL"},
        ),
    ],
)
def test_the_failure_of_one_ends_all(what: str, kind: str, message: str, attributes: dict[str, Any]) -> None:
    shared = torch.zeros(2).share_memory_()
    context = mp.start_processes(one_process, args=(shared, what), nprocs=2, join=False, start_method="fork")
    pids = context.pids()
    with pytest.raises(getattr(mp, kind), match=message) as caught:
        while not context.join():
            pass
    assert caught.value.error_index == 1 and caught.value.error_pid == pids[1]
    assert {name: getattr(caught.value, name) for name in attributes} == attributes
    assert not any(process.is_alive() for process in context.processes)
    assert not any(os.path.exists(path) and torch.__name__ == "torch_py" for path in context.error_files)


@only_torch_py
def test_starting_leaves_nothing_behind(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    context = mp.start_processes(
        one_process,
        args=(torch.zeros(3).share_memory_(), "return"),
        nprocs=2,
        join=False,
        start_method="fork",
    )

    assert os.listdir(tmp_path) and not os.path.exists(context.error_files[0])
    for process in context.processes:
        process.join()

    del context
    gc.collect()
    assert os.listdir(tmp_path) == []


@only_torch_py
def test_a_start_that_fails_ends_those_before(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process_type = multiprocessing.get_context("fork").Process
    started = []

    def start(self: Any) -> None:
        if started:
            raise OSError("no more processes")
        started.append(self)
        multiprocessing.process.BaseProcess.start(self)

    monkeypatch.setattr(process_type, "start", start)
    with pytest.raises(OSError, match="no more processes"):
        mp.start_processes(
            one_process, args=(torch.zeros(3).share_memory_(), "wait"), nprocs=3, start_method="fork"
        )
    assert len(started) == 1 and started[0].exitcode == -signal.SIGTERM and os.listdir(tmp_path) == []


def test_join_waits_only_so_long() -> None:
    context = mp.start_processes(
        one_process, args=(torch.zeros(1).share_memory_(), "wait"), nprocs=1, join=False, start_method="fork"
    )
    assert context.join(timeout=0.01) is False
    context.processes[0].kill()
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL"):
        context.join(timeout=SECONDS)


def train(index: int, model: Any) -> None:
    torch.manual_seed(index)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(60):
        x = torch.randn(16, 2)
        loss = ((model.layer(x) - (x @ torch.tensor([[2.0], [-3.0]]) + 1)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.count.add_(1)


@pytest.mark.parametrize(
    "method", [pytest.param("fork", marks=only_torch_py), "spawn"]
)  # PyTorch's threads hang after a fork
def test_processes_train_one_model(method: str) -> None:
    torch.manual_seed(0)
    model = Node().share_memory()
    mp.start_processes(train, args=(model,), nprocs=2, start_method=method)
    assert model.count.item() >= 1  # an unlocked counter: one of two may be lost
    assert model.layer.weight.flatten().tolist() == pytest.approx(
        [2, -3], abs=0.2
    ) and model.layer.bias.item() == pytest.approx(1, abs=0.2)


def test_strategies() -> None:
    before = mp.get_sharing_strategy()
    assert before == "file_descriptor" and before in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy(before)
    with pytest.raises(AssertionError, match="invalid sharing strategy 'other'"):
        mp.set_sharing_strategy("other")


@only_torch_py
def test_the_names_are_those_of_pytorch() -> None:
    peer: Any = pytest.importorskip("torch.multiprocessing")

    assert set(mp.__all__) == set(peer.__all__)
    missing = [name for name in dir(peer) if not name.startswith("_") and not hasattr(mp, name)]
    assert set(missing) <= {"torch"}

    for name in (
        "spawn",
        "start_processes",
        "ProcessContext",
        "ProcessRaisedException",
        "ProcessExitedException",
    ):
        ours, theirs = (
            list(inspect.signature(getattr(module, name)).parameters.values()) for module in (mp, peer)
        )
        assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs]


@only_torch_py
def test_unknown_start_methods() -> None:
    with pytest.raises(ValueError, match="cannot find context for 'foo'"):
        mp.start_processes(one_process, start_method="foo")
    with pytest.warns(FutureWarning, match="start_method"):
        mp.spawn(one_process, args=(torch.zeros(1).share_memory_(), "return"), start_method="fork")


def send_and_end(queue: Any) -> None:
    queue.put(torch.ones(3))


@only_torch_py
def test_a_sender_that_does_not_wait() -> None:
    context = mp.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=send_and_end, args=(queue,))
    process.start()
    process.join()
    message = "the process that sent a tensor has ended"
    with pytest.raises((ConnectionError, FileNotFoundError, EOFError), match=message):
        queue.get(timeout=SECONDS)
