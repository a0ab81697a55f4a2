"""Names of PyTorch that public programs import can be imported from torch_py, even where they are refused."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tests.subject import only_torch_py, torch
from tools.names.__main__ import names_in_use
from tools.names.lookup import ABSENT, REFUSES, WORKS, look_up
from torch_py._pytorch_names.lacking import LACKING

pytestmark = [only_torch_py, pytest.mark.filterwarnings("ignore")]


def test_no_name_in_use_is_absent():
    names = names_in_use()
    assert len(names) > 3000
    assert [name for name in names if look_up(name, "torch_py").status == ABSENT] == []


def test_the_look_up_tells_three_cases_apart():
    assert look_up("torch.nn.Linear", "torch_py").status == WORKS
    assert look_up("torch.FileCheck", "torch_py").status == REFUSES
    assert look_up("torch.distributed.send", "torch_py").status == REFUSES
    assert look_up("torch.no_such", "torch_py").status == ABSENT
    assert look_up("torch.nn.no_such.module", "torch_py").status == ABSENT


def test_lacking_names_are_not_there_already():
    """A name that comes into being is deleted from LACKING."""
    for module, rows in LACKING.items():
        place = look_up(f"torch.{module}" if module else "torch", "torch_py").value
        there = vars(place)
        stale = [name for _, names in rows for name in names.split() if name in there]
        assert stale == [], module


def test_lacking_names_are_classes_that_refuse_their_use():
    refused = torch.FileCheck
    assert inspect.isclass(refused) and not isinstance(3, refused)
    for use in (lambda: refused(), lambda: refused.get(), lambda: torch.nn.functional.scaled_mm(1)):
        with pytest.raises(
            NotImplementedError, match=r"torch\.(FileCheck|nn\.functional\.scaled_mm): .*torch_py"
        ):
            use()
    with pytest.raises(AttributeError, match="no_such"):
        torch.nn.functional.no_such  # noqa: B018


def test_settings_of_the_compiler():
    from torch_py._inductor import config

    with config.patch(max_autotune=True, coordinate_descent_tuning=True):
        assert config.max_autotune and config.coordinate_descent_tuning
    assert not config.max_autotune and not config.coordinate_descent_tuning
    with config.patch(fx_graph_cache=False):
        config.fx_graph_cache = True
        assert config.get_config_copy()["fx_graph_cache"]
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        raise torch._dynamo.exc.Unsupported("tracing")


def test_packages_can_define_data_pipes() -> None:
    data = importlib.import_module("torch_py.utils.data")

    class Batches(data.IterDataPipe):
        pass

    assert data.functional_datapipe("batches")(Batches) is Batches
    with pytest.raises(NotImplementedError, match="IterDataPipe"):
        Batches()
