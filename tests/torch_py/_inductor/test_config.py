"""Settings of the compiler: they can be read, set, patched and saved, and have PyTorch's defaults."""

from __future__ import annotations

import importlib
import types
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

config = importlib.import_module(f"{torch.__name__}._inductor.config")
# What depends on the machine, and what PyTorch 2.13 no longer has.
_UNLIKE = {"compile_threads", "cpp.cxx", "use_mixed_mm"}


@only_torch_py
def test_defaults_are_pytorchs():
    peer: Any = pytest.importorskip("torch._inductor.config")

    def value(name: str) -> Any:
        found = peer
        for part in name.split("."):
            found = getattr(found, part)
        return found

    different = {
        name: (ours, value(name))
        for name, ours in config.get_config_copy().items()
        if name not in _UNLIKE and ours != value(name)
    }
    assert different == {}


def test_settings_keep_what_is_set():
    assert isinstance(config, types.ModuleType)
    config.debug = True
    assert config.debug
    config.debug = False
    config.triton.cudagraphs = True
    assert config.get_config_copy()["triton.cudagraphs"]
    config.triton.cudagraphs = False
    with pytest.raises(AttributeError):
        config.no_such_setting  # noqa: B018


def test_patches_end_with_the_block():
    with (
        config.patch(max_autotune=True),
        config.patch({"triton.cudagraphs": True}),
        config.patch("debug", True),
    ):
        assert config.max_autotune and config.triton.cudagraphs and config.debug
    assert not (config.max_autotune or config.triton.cudagraphs or config.debug)

    with pytest.raises(KeyError), config.patch(debug=True):
        raise KeyError
    assert not config.debug


def test_patches_decorate():
    @config.patch(debug=True)
    def function() -> bool:
        return bool(config.debug)

    assert function() and function() and not config.debug


def test_settings_can_be_saved():
    saved, before = config.save_config(), config.get_hash()
    config.debug = True
    assert config.get_hash() != before
    config.load_config(saved)
    assert not config.debug and config.get_hash() == before
    assert "debug" in config.codegen_config() or not config.debug


@only_torch_py
def test_wrong_patches():
    with pytest.raises(TypeError, match="got int"):
        config.patch(3)
    with pytest.raises(AttributeError), config.patch({"no_such.setting": 1}):
        pass


@pytest.mark.parametrize("module", [torch._dynamo.config, torch._inductor.config])
def test_names_that_are_no_settings(module):
    with pytest.raises(AttributeError, match="no_such_setting does not exist"):
        module.no_such_setting = 1
    assert not hasattr(module, "no_such_setting")
