"""Files of weights by URL, and models by the entry points of a `hubconf.py` in a local folder."""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.serialization import load as load_file

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # of a file name: name-HASH.pth
READ_DATA_CHUNK = 128 * 1024
MODULE_HUBCONF = "hubconf.py"
_folder: str | None = None


def _get_torch_home() -> str:
    """TORCH_HOME, else the folder `torch` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of downloads: the one given to `set_dir`, else `hub` in TORCH_HOME."""
    return _folder if _folder is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keeps downloads in `d` from now on."""
    global _folder
    _folder = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Downloads `url` to `dst`, whole or not at all. `progress` shows a bar if tqdm is installed.

    Raises RuntimeError when its SHA256 does not begin with `hash_prefix`, and what urllib raises.
    """
    target = Path(os.path.expanduser(dst))
    digest = hashlib.sha256()

    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source:
        size = source.headers.get("Content-Length")
        handle, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".partial", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file, _bar(int(size) if size else None, progress) as bar:
                while chunk := source.read(READ_DATA_CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    bar.update(len(chunk))

            if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
                )
            shutil.move(name, target)
        finally:
            Path(name).unlink(missing_ok=True)


class _NoBar:
    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def update(self, size: int) -> None:
        pass


def _bar(total: int | None, progress: bool) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(total=total, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """`torch.load` of the file at `url`, downloaded once into `model_dir` (default: `checkpoints` in
    `get_dir()`).

    With `check_hash` the file's name says its hash: name-HASH.pth. As in PyTorch `weights_only` is False
    here: pass True for files that are not trusted.
    """
    folder = model_dir if model_dir is not None else os.path.join(get_dir(), "checkpoints")
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        print(f'Downloading: "{url}" to {path}', file=sys.stderr)
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, match[1] if match else None, progress=progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)


def _hubconf(repo_or_dir: Any, source: str) -> ModuleType:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(
            f"torch.hub: code is not fetched from GitHub; clone {repo_or_dir!r} and pass the folder with "
            "source='local'"
        )

    path = os.path.join(os.path.expanduser(repo_or_dir), MODULE_HUBCONF)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)

    missing = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")

    return module


def _entry(module: ModuleType, name: str) -> Any:
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = None,
    verbose: bool = True,
    source: str = "github",
) -> Any:
    """Names of the entry points of a folder (``source="local"``)."""
    module = _hubconf(github, source)
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = None,
    source: str = "github",
) -> str | None:
    """The docstring of entry point `model`."""
    doc: str | None = _entry(_hubconf(github, source), model).__doc__
    return doc


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls entry point `model` of the folder `repo_or_dir` (``source="local"``) with the other arguments.

    Raises FileNotFoundError without a hubconf.py there, RuntimeError without such an entry point or what it
    depends on, and NotImplementedError for ``source="github"``, which would run code from the network.
    """
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def _check_module_exists(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


__getattr__ = _lacking(__name__)
