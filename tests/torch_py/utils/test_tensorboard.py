"""SummaryWriter, read back by the tensorboard package; model_summary."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import torch_py as torch


@pytest.fixture
def log(tmp_path):
    """A writer, and a function that closes it and gives {tag: (step, value)} of a folder."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    from torch_py.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(tmp_path)

    def read(folder="."):
        writer.close()
        found = {}

        for file in sorted((tmp_path / folder).glob("events.*")):
            for event in EventFileLoader(str(file)).Load():
                if event.HasField("graph_def"):
                    found["graph"] = event.graph_def
                for value in event.summary.value:
                    found[value.tag] = (
                        event.step,
                        tensor_util.make_ndarray(value.tensor),
                        value.metadata.plugin_data.plugin_name,
                    )

        return found

    return writer, read, tmp_path


def test_scalars(log):
    writer, read, _ = log
    writer.add_scalar("a", torch.tensor([1.5], requires_grad=True), 3)
    writer.add_scalar("b", 2, 4, new_style=True, double_precision=True)
    writer.add_scalars("group/x", {"one": 1.0, "two": 2.0}, 5)
    found = read()
    assert found["a"][:2] == (3, 1.5) and found["b"][:2] == (4, 2.0)
    assert read("group_x_two")["group/x"][:2] == (5, 2.0)
    with pytest.raises(AssertionError, match="one element"):
        writer.add_scalar("a", torch.ones(2))
    with pytest.raises(NotImplementedError, match="str"):
        writer.add_scalar("a", "text")


def test_histogram_counts_all_values(log):
    writer, read, _ = log
    values = torch.tensor([-2.0, 0.0, 0.5, 0.5, 3.0])
    writer.add_histogram("h", values, 1)
    writer.add_histogram("few", values, bins=10, max_bins=3)

    found = read()
    for tag in ("h", "few"):
        buckets = found[tag][1]  # rows of left edge, right edge, count
        assert buckets[:, 2].sum() == 5
        assert buckets[0, 0] <= -2.0 and buckets[-1, 1] >= 3.0
    assert len(found["few"][1]) <= 4

    for bad in (torch.empty(0), torch.tensor([float("nan")])):
        with pytest.raises(ValueError):
            writer.add_histogram("h", bad)


def test_images_are_the_pixels(log):
    import io

    pil = pytest.importorskip("PIL.Image")
    writer, read, _ = log
    pixels = torch.arange(24, dtype=torch.uint8).reshape(2, 4, 3)
    writer.add_image("hwc", pixels, dataformats="HWC")
    writer.add_image("chw", pixels.permute(2, 0, 1).float() / 255 + 1e-4, dataformats="CHW")
    writer.add_image("hw", pixels[..., 0], dataformats="HW")
    writer.add_images("batch", torch.stack([pixels, pixels]), dataformats="NHWC")
    writer.add_image_with_boxes("boxes", torch.zeros(3, 9, 9), torch.tensor([[1, 1, 5, 5]]))
    found = {tag: np.asarray(pil.open(io.BytesIO(value[1][2]))) for tag, value in read().items()}
    assert found["hwc"].tolist() == pixels.tolist() == found["chw"].tolist()
    assert found["hw"].tolist() == pixels[..., :1].expand(2, 4, 3).tolist()
    assert found["batch"].tolist() == torch.cat([pixels, pixels], 1).tolist()
    assert found["boxes"][1, 1].tolist() == [255, 0, 0]
    with pytest.raises(AssertionError, match="size of input tensor"):
        writer.add_image("bad", pixels, dataformats="HW")


def test_figure(log):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    writer, read, _ = log
    figure = plt.figure(figsize=(2, 1), dpi=50)
    writer.add_figure("figure", figure)
    assert not plt.fignum_exists(figure.number)
    assert read()["figure"][1][:2].tolist() == [b"100", b"50"]


def test_text_audio_video_mesh_layout(log):
    writer, read, _ = log
    writer.add_text("t", "*hello*", 2)
    writer.add_audio("sound", torch.linspace(-1, 1, 100), sample_rate=8000)
    writer.add_mesh("m", torch.rand(1, 4, 3), colors=torch.zeros(1, 4, 3))
    writer.add_custom_scalars({"category": {"chart": ["Multiline", ["a", "b"]]}})
    writer.add_tensor("raw", torch.tensor([1.0, 2.0]))

    found = read()
    assert found["t/text_summary"][1].tolist() == [b"*hello*"]
    assert found["sound"][1].reshape(-1)[0].startswith(b"RIFF")
    assert found["m_VERTEX"][1].shape == (1, 4, 3) and "m_COLOR" in found
    assert b"chart" in found["custom_scalars__config__"][1].item()
    assert found["raw"][1].tolist() == [1.0, 2.0]


def test_hparams(log):
    writer, _, folder = log
    writer.add_hparams({"rate": 0.1, "deep": True, "kind": "x"}, {"loss": 0.5}, run_name="run")
    assert list((folder / "run").glob("events.*"))
    with pytest.raises(TypeError, match="dictionaries"):
        writer.add_hparams([], {})
    with pytest.raises(ValueError, match="'rate'"):
        writer.add_hparams({"rate": []}, {})


def test_pr_curve_counts(log):
    writer, read, _ = log
    writer.add_pr_curve("p", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.6, 0.9]), num_thresholds=5)
    hits, alarms, rejections, misses, precision, recall = read()["p"][1]
    assert hits.tolist() == [2, 2, 2, 1, 0] and alarms.tolist() == [1, 0, 0, 0, 0]
    assert rejections.tolist() == [0, 1, 1, 1, 1] and misses.tolist() == [0, 0, 0, 1, 2]
    np.testing.assert_allclose(precision, [2 / 3, 1, 1, 1, 0], rtol=1e-6)
    np.testing.assert_allclose(recall, [1, 1, 1, 0.5, 0], rtol=1e-6)


def test_graph_has_modules_and_parameters(log):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    writer, read, _ = log
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    writer.add_graph(model, torch.rand(1, 2))
    nodes = {node.name: node for node in GraphDef.FromString(read()["graph"]).node}
    assert nodes["Sequential/0/weight"].op == "Parameter" and nodes["input/input.0"].op == "IO Node"
    relu = next(name for name in nodes if name.startswith("Sequential/1/"))
    assert list(nodes["output/output.0"].input) == [relu]
    assert all(name in nodes for node in nodes.values() for name in node.input)
    assert all(parameter.grad is None for parameter in model.parameters())
    with pytest.raises(ValueError, match="input_to_model"):
        writer.add_graph(model)


def test_embedding_files(log):
    writer, _, folder = log
    writer.add_embedding(
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        metadata=["a", "b"],
        label_img=torch.rand(2, 3, 4, 4),
        global_step=1,
    )
    writer.add_embedding(torch.ones(1, 2), tag="second")

    assert (folder / "00001/default/tensors.tsv").read_text() == "1.0\t2.0\n3.0\t4.0\n"
    assert (folder / "00001/default/metadata.tsv").read_text() == "a\nb\n"
    assert (folder / "projector_config.pbtxt").read_text().count("tensor_path") == 2

    with pytest.raises(AssertionError, match="#labels"):
        writer.add_embedding(torch.ones(2, 2), metadata=["a"])


def test_import_without_tensorboard_names_the_package():
    body = "try:\n    import torch_py.utils.tensorboard\nexcept ImportError as error:\n    print(error)"
    program = f"import sys; sys.modules['tensorboard'] = None\n{body}"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install tensorboard" in result.stdout


def test_model_summary():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(144, 5)
    )
    model[3].weight.requires_grad_(False)
    before = [tensor.clone() for tensor in model.state_dict().values()]
    lines = torch.utils.model_summary(model, (2, 1, 8, 8)).splitlines()
    assert lines[3].split() == ["0", "(Conv2d)", "[2,", "4,", "6,", "6]", "40"]
    assert lines[-4:-1] == ["Parameters: 773", "Trainable: 53", "Not trainable: 720"]
    assert model.training and all(module.training for module in model)
    for old, new in zip(before, model.state_dict().values()):
        torch.testing.assert_close(old, new)


def test_model_summary_of_shared_layers_and_several_inputs():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, a, b):
            return self.layer(a), self.layer(b)

    text = torch.utils.model_summary(Twice(), [(1, 3), (2, 3)])
    assert "[1, 3], [2, 3]" in text and "(shared)" in text and "Parameters: 12" in text
    assert "[4, 3]" in torch.utils.model_summary(Twice(), input_data=(torch.ones(4, 3), torch.ones(1, 3)))


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({}, ValueError),
        ({"input_size": (1, 2), "input_data": torch.ones(1, 2)}, ValueError),
        ({"input_size": [3, "a"]}, TypeError),
    ],
)
def test_model_summary_bad_arguments(arguments, error):
    with pytest.raises(error, match="model_summary"):
        torch.utils.model_summary(torch.nn.Linear(2, 2), **arguments)
