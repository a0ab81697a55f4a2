"""Stores: tables of bytes that the processes of a world share, here the threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from torch_py.distributed._world import DistStoreError, absent


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _check_size(store: str, world_size: int | None) -> None:
    if world_size is not None and world_size > 1:
        raise NotImplementedError(
            f"torch.distributed.{store}: torch_py has worlds of one process only, got world_size={world_size}"
        )


class Store:
    """Keys and values in the memory of this process. `HashStore` is the one to create."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self.timeout = timedelta(minutes=5)

    def set(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._values[key] = _as_bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of `key`. Waits until it is set, and raises DistStoreError after `timeout`."""
        self.wait([key])
        return self._values[key]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are set. Raises DistStoreError after `timeout`."""
        limit = (timeout or self.timeout).total_seconds()
        with self._changed:
            if not self._changed.wait_for(lambda: self.check(keys), limit):
                missing = [key for key in keys if key not in self._values]
                raise DistStoreError(f"wait timeout after {limit:g} s, keys: {', '.join(missing)}")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return all(key in self._values for key in keys)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number of `key`, which is 0 at first, and returns the sum."""
        with self._changed:
            total = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
            return total

    def append(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._values[key] = self._values.get(key, b"") + _as_bytes(value)
            self._changed.notify_all()

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Sets `key` if its value is the expected one, or is expected to be empty and not there.

        Returns the value that `key` has then, and the expected one if the key is not there.
        """
        expected = _as_bytes(expected_value)
        with self._changed:
            if key not in self._values and expected:
                return expected
            if self._values.get(key, b"") == expected:
                self._values[key] = _as_bytes(desired_value)
                self._changed.notify_all()
            return self._values[key]

    def delete_key(self, key: str) -> bool:
        """Removes the key. Returns whether it was there."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        return len(self._values)

    def set_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout


class HashStore(Store):
    """A store in the memory of one process."""


class FileStore(Store):
    """A store for processes that share a file; of one process, which does not need the file."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        _check_size("FileStore", world_size)
        super().__init__()
        self.path = file_name


class TCPStore(Store):
    """A store for processes that reach one host; of one process, which does not open the port."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(minutes=5),  # noqa: B008  # as PyTorch's signature
        wait_for_workers: bool = True,
        **options: Any,
    ) -> None:
        _check_size("TCPStore", world_size)
        if not is_master:
            absent("TCPStore of another process")()
        super().__init__()
        self.host = host_name
        self.port = port
        self.timeout = timeout


class PrefixStore(Store):
    """The part of a store whose keys begin with ``prefix/``."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.underlying_store = store
        self._prefix = prefix

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def _keys(self, keys: Sequence[str]) -> list[str]:
        return [self._key(key) for key in keys]

    def set(self, key: str, value: str | bytes) -> None:
        self.underlying_store.set(self._key(key), value)

    def get(self, key: str) -> bytes:
        return self.underlying_store.get(self._key(key))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self.underlying_store.wait(self._keys(keys), timeout)

    def check(self, keys: Sequence[str]) -> bool:
        return self.underlying_store.check(self._keys(keys))

    def add(self, key: str, amount: int) -> int:
        return self.underlying_store.add(self._key(key), amount)

    def append(self, key: str, value: str | bytes) -> None:
        self.underlying_store.append(self._key(key), value)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        return self.underlying_store.compare_set(self._key(key), expected_value, desired_value)

    def delete_key(self, key: str) -> bool:
        return self.underlying_store.delete_key(self._key(key))

    def num_keys(self) -> int:
        """The number of keys of the whole store, those without the prefix included."""
        return self.underlying_store.num_keys()

    def set_timeout(self, timeout: timedelta) -> None:
        self.underlying_store.set_timeout(timeout)


rendezvous: Callable[..., Any] = absent("rendezvous")
