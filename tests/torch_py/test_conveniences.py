"""torch.profiler, torch.hub, TorchVersion, torch.overrides, paths in trees."""

import json
import time

import pytest

import torch_py as torch
from torch_py.profiler import ProfilerAction, profile, record_function, schedule


def test_ranges_are_summed_and_nested_time_is_not_own_time():
    with profile() as measured:
        for _ in range(2):
            with record_function("outer"):
                time.sleep(0.01)
                with record_function("inner"):
                    time.sleep(0.02)
    rows = {row.key: row for row in measured.key_averages()}
    outer, inner = rows["outer"], rows["inner"]
    assert outer.count == inner.count == 2 and inner.cpu_time_total >= 40_000
    assert outer.cpu_time_total == pytest.approx(outer.self_cpu_time_total + inner.cpu_time_total, rel=0.01)
    table = measured.key_averages().table(sort_by="self_cpu_time_total")
    assert table.index("inner") < table.index("outer") and "record_function only" in table
    with pytest.raises(AttributeError, match="sort_by"):
        measured.key_averages().table(sort_by="colour")


def test_nothing_is_recorded_outside():
    with record_function("before"):
        pass
    with profile() as measured:
        pass
    assert measured.events() == []


def test_decorator_and_trace(tmp_path):
    @record_function("decorated")
    def function():
        return 3

    with profile() as measured:
        assert function() == 3
    path = tmp_path / "trace.json"
    measured.export_chrome_trace(str(path))
    assert [event["name"] for event in json.loads(path.read_text())["traceEvents"]] == ["decorated"]


def test_schedule_against_peer():
    peer = pytest.importorskip("torch.profiler")
    for options in (
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 0, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 3},
    ):
        ours, theirs = schedule(**options), peer.schedule(**options)
        assert [ours(step).name for step in range(20)] == [theirs(step).name for step in range(20)]
    with pytest.raises(AssertionError, match="active"):
        schedule(wait=1, warmup=0, active=0)


def test_scheduled_profile_calls_back_at_the_end_of_each_cycle():
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=0, active=2, repeat=1),
        on_trace_ready=lambda p: seen.append(p.key_averages()),
    ) as measured:
        for step in range(6):
            with record_function(f"step {step}"):
                pass
            measured.step()
    assert len(seen) == 1 and {row.key for row in seen[0]} == {
        "step 1",
        "step 2",
        "ProfilerStep#1",
        "ProfilerStep#2",
    }
    assert measured.current_action is ProfilerAction.NONE


def test_hub_loads_from_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['math']\ndef model(size, scale=1):\n    'A model.'\n    return size * scale\ndef "
        "_hidden(): pass\n"
    )
    assert torch.hub.load(str(tmp_path), "model", 3, scale=2, source="local") == 6
    assert (
        torch.hub.list(str(tmp_path), source="local") == ["model"]
        and torch.hub.help(str(tmp_path), "model", source="local") == "A model."
    )
    with pytest.raises(RuntimeError, match="Cannot find callable other"):
        torch.hub.load(str(tmp_path), "other", source="local")
    with pytest.raises(ValueError, match="source"):
        torch.hub.load(str(tmp_path), "model", source="elsewhere")
    with pytest.raises(NotImplementedError, match="GitHub"):
        torch.hub.load("owner/repo", "model")
    with pytest.raises(FileNotFoundError):
        torch.hub.load(str(tmp_path / "nothing"), "model", source="local")


def test_hub_downloads_whole_files_only(tmp_path):
    source = tmp_path / "weights-0123abcd.pth"
    torch.save({"x": torch.ones(2)}, source)
    loaded = torch.hub.load_state_dict_from_url(
        source.as_uri(), model_dir=str(tmp_path / "models"), progress=False, weights_only=True
    )
    assert loaded["x"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        torch.hub.download_url_to_file(
            source.as_uri(), str(tmp_path / "copy"), hash_prefix="0123abcd", progress=False
        )
    assert not list(tmp_path.glob("copy*"))


@pytest.mark.parametrize(
    "other",
    [
        "2.13.0",
        "2.13",
        (2, 13),
        "2.13.0+cpu",
        "2.13.0+zzz",
        "abc",
        (2, 14),
        "2.13.0a0",
        "2.12.9",
        "2.9",
        "v2.13",
    ],
)
def test_versions_compare_as_the_peers(other):
    peer = pytest.importorskip("torch.torch_version").TorchVersion("2.13.0+cpu")
    ours = torch.torch_version.TorchVersion("2.13.0+cpu")
    for name in ("__lt__", "__le__", "__eq__", "__ge__", "__gt__"):
        assert getattr(ours, name)(other) is getattr(peer, name)(other), name


def test_torch_function_of_python_functions():
    class Array:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, args, kwargs

    @torch.overrides.wrap_torch_function(lambda x: (x,))
    def mean(x):
        return x.mean()

    value = Array()
    assert mean(value) == ("mean", (value,), {}) and mean(torch.ones(2)) == 1
    assert torch.overrides.has_torch_function((1, value)) and not torch.overrides.has_torch_function(
        (torch.ones(1),)
    )
    assert torch.overrides.is_tensor_like(value) and not torch.overrides.is_tensor_like(3)


def test_paths_in_trees_against_peer():
    peer = pytest.importorskip("torch.utils._pytree")
    import torch_py.utils._pytree as ours

    tree = {"a": [1, (2, 3)], "b": {"c": None}}
    for library in (ours, peer):
        keyed = [(library.keystr(path), leaf) for path, leaf in library.tree_leaves_with_path(tree)]
        assert keyed == [("['a'][0]", 1), ("['a'][1][0]", 2), ("['a'][1][1]", 3), ("['b']['c']", None)]
        assert library.tree_map_with_path(lambda path, leaf: len(path), tree) == {
            "a": [2, (3, 3)],
            "b": {"c": 2},
        }
        assert library.key_get(tree, library.tree_leaves_with_path(tree)[1][0]) == 2
