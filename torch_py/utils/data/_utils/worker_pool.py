"""The worker processes of one iterator: starts them, exchanges messages
with them, notices when one dies, and ends them."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any

from torch_py.multiprocessing._sockets import Closed, ParentEnd, socket_pair
from torch_py.utils.data._utils.worker import MP_STATUS_CHECK_INTERVAL, Plan, worker_main

_LOOK_SECONDS = 1.0  # how often a waiting main process checks that its workers are alive


class _Worker:
    def __init__(self, context: Any, plan: Plan, number: int) -> None:
        ours, theirs = socket_pair()
        self.process = context.Process(target=worker_main, args=(plan, number, theirs), daemon=True)

        # A child inherits blocked signals: it must not be interrupted before it has set SIGINT to be ignored.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self.process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

        self.end = ParentEnd(ours)
        self.closed = False  # either end of the connection


class WorkerPool:
    """A group of `num_workers` processes. If one ends early, RuntimeError names its process id."""

    def __init__(self, context: Any, plan: Plan) -> None:
        self.process_id = os.getpid()
        self.workers: list[_Worker] = []
        self._poll = select.poll()
        self._by_descriptor: dict[int, int] = {}

        try:
            for number in range(plan.num_workers):
                worker = _Worker(context, plan, number)
                self.workers.append(worker)
                self._by_descriptor[worker.end.socket.fileno()] = number
                self._poll.register(worker.end.socket, select.POLLIN)
        except BaseException:
            self.shutdown()
            raise

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self.workers]

    def request(self, number: int, epoch: int, task: int, index: Any) -> None:
        """Asks a worker for a batch and returns the memory of earlier batches to it.

        If the worker has died, `wait` will notice.
        """
        worker = self.workers[number]
        if worker.closed:
            return

        try:
            worker.end.send((epoch, task, index, *worker.end.receiver.take_returned()))
        except Closed:
            pass
        if worker.end.is_behind:
            self._poll.modify(worker.end.socket, select.POLLIN | select.POLLOUT)

    def wait(self, deadline: float | None) -> list[Any]:
        """The answers (epoch, task, data) that have arrived: at least one, unless the deadline has passed."""
        answers: list[Any] = []
        while not answers:
            seconds = _LOOK_SECONDS
            if deadline is not None:
                seconds = min(seconds, max(0.0, deadline - time.monotonic()))

            ready = self._poll.poll(seconds * 1000)
            for descriptor, events in ready:
                self._serve(self._by_descriptor[descriptor], events, answers)

            if not ready:
                self._look_for_the_dead(answers)
                if not answers and deadline is not None and time.monotonic() >= deadline:
                    break
        return answers

    def _serve(self, number: int, events: int, answers: list[Any]) -> None:
        worker = self.workers[number]
        try:
            if events & select.POLLOUT:
                worker.end.flush()
                if not worker.end.is_behind:
                    self._poll.modify(worker.end.socket, select.POLLIN)

            if events & ~select.POLLOUT:
                answer = worker.end.receive()
                if answer is not None:
                    epoch, task, data, forgotten = answer
                    if forgotten:
                        worker.end.receiver.forget(forgotten)
                    answers.append((epoch, task, data))
        except Closed:
            self._fail([number])

    def _look_for_the_dead(self, answers: list[Any]) -> None:
        """Finds workers that have died.

        The connection alone does not tell: a process that the worker started may still hold it open.
        """
        dead = [
            number
            for number, worker in enumerate(self.workers)
            if not worker.closed and not worker.process.is_alive()
        ]
        for number in dead:
            self._serve(number, select.POLLIN, answers)  # what it sent before it died
        if dead and not answers:
            self._fail(dead)

    def _fail(self, numbers: list[int]) -> None:
        causes = []
        for number in numbers:
            process = self.workers[number].process
            process.join(MP_STATUS_CHECK_INTERVAL)
            causes.append(_describe_end(process))
            self._close(self.workers[number])
        pids = ", ".join(str(self.workers[number].process.pid) for number in numbers)
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from RuntimeError(
            " ".join(causes)
        )

    def _close(self, worker: _Worker) -> None:
        if not worker.closed:
            worker.closed = True
            descriptor = worker.end.socket.fileno()
            if descriptor in self._by_descriptor:
                del self._by_descriptor[descriptor]
                self._poll.unregister(descriptor)
            worker.end.close()

    def shutdown(self) -> None:
        """Ends the workers. A busy worker has a few seconds to finish its batch, then it is terminated."""
        if os.getpid() != self.process_id:
            return  # this is a child, which has inherited the object but not the processes

        for worker in self.workers:
            self._close(worker)

        deadline = time.monotonic() + MP_STATUS_CHECK_INTERVAL
        for worker in self.workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))

        for stop in ("terminate", "kill"):
            alive = [worker.process for worker in self.workers if worker.process.is_alive()]
            for process in alive:
                getattr(process, stop)()
            deadline = time.monotonic() + MP_STATUS_CHECK_INTERVAL
            for process in alive:
                process.join(max(0.0, deadline - time.monotonic()))


def _describe_end(process: Any) -> str:
    code = process.exitcode
    if code is None:
        return f"DataLoader worker (pid {process.pid}) closed its connection."

    if code < 0:
        try:
            name = signal.strsignal(-code)
        except ValueError:
            name = str(-code)
        hint = ""
        if -code == signal.SIGBUS:
            hint = " It is possible that the shared memory of this machine is exhausted."
        return f"DataLoader worker (pid {process.pid}) is killed by signal: {name}.{hint}"

    return (
        f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {code}. Details are lost "
        "due to multiprocessing. Rerunning with num_workers=0 may give better error trace."
    )
