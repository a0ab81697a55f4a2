"""Builds the records of TensorBoard's plugins as protocol buffers, with one function per kind of record."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from torch_py.utils.tensorboard._arrays import arrange, encode_gif, encode_png, pillow, to_numpy, to_pixels

if TYPE_CHECKING:
    from torch_py.utils.tensorboard._arrays import Values

__all__ = [
    "audio",
    "custom_scalars",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_boxes",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor",
    "text",
    "video",
]

_SMALLEST = 1e-12
_LARGEST = 1e20
_GROWTH = 1.1


def _shape(*sizes: int) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _plugin(name: str, content: bytes = b"", **more: Any) -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content), **more)


def _floats(values: Any, *shape: int) -> TensorProto:
    return TensorProto(
        dtype="DT_FLOAT",
        float_val=np.asarray(values, np.float64).reshape(-1).tolist(),
        tensor_shape=_shape(*shape),
    )


def scalar(tag: str, value: Values, new_style: bool = False, double_precision: bool = False) -> Summary:
    """A record of one number.

    `new_style` writes it as a tensor, in float64 with `double_precision`. Raises AssertionError unless
    `value` has one element.
    """
    array = to_numpy(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {array.size} and "
            f"{array.ndim} dimensions."
        )

    number = float(array)
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])

    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=_plugin("scalars"))])


def tensor(tag: str, value: Values) -> Summary:
    """A record of a tensor. Raises ValueError for complex dtypes."""
    array = to_numpy(value)
    kinds = {
        "float32": "DT_FLOAT",
        "float64": "DT_DOUBLE",
        "int32": "DT_INT32",
        "int64": "DT_INT64",
        "uint8": "DT_UINT8",
        "int8": "DT_INT8",
        "int16": "DT_INT16",
        "bool": "DT_BOOL",
    }
    if array.dtype.name not in kinds:
        raise ValueError(f"add_tensor: expected a real dtype, got {array.dtype}")

    proto = TensorProto(
        dtype=kinds[array.dtype.name], tensor_shape=_shape(*array.shape), tensor_content=array.tobytes()
    )
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=_plugin("tensor"))])


def _geometric_edges() -> list[float]:
    edges = []
    edge = _SMALLEST
    while edge < _LARGEST:
        edges.append(edge)
        edge *= _GROWTH
    return [-value for value in reversed(edges)] + [0.0] + edges


def histogram(
    tag: str, values: Values, bins: str | int | Sequence[float] = "tensorflow", max_bins: int | None = None
) -> Summary:
    """A record of a histogram.

    The buckets grow by 10 %, or are the `bins` of numpy.histogram; there are at most `max_bins`.

    Raises ValueError without values and for values that are not finite.
    """
    array = to_numpy(values).astype(np.float64).reshape(-1)
    if array.size == 0:
        raise ValueError("The input has no element.")
    if not np.isfinite(array).all():
        raise ValueError(f"histogram {tag!r}: expected finite values")

    is_default = isinstance(bins, str) and bins == "tensorflow"
    counts, edges = np.histogram(array, bins=_geometric_edges() if is_default else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = -(-len(counts) // max_bins)
        counts = np.add.reduceat(counts, range(0, len(counts), step))
        edges = np.append(edges[:-1:step], edges[-1])

    used = np.flatnonzero(counts)
    if used.size == 0:
        raise ValueError(f"histogram {tag!r}: no value lies within the bins")
    first = used[0]
    last = used[-1]

    # Buckets have only upper limits, so an empty bucket in front marks the start of the first.
    limits = edges[first : last + 2]
    shown = [0, *counts[first : last + 1]]
    return histogram_raw(
        tag, array.min(), array.max(), array.size, array.sum(), array.dot(array), limits, shown
    )


def histogram_raw(
    tag: str, min: float, max: float, num: int, sum: float, sum_squares: float, limits: Values, counts: Values
) -> Summary:
    """A record of a histogram from its buckets, each with its upper limit and count."""
    limits, counts = (
        np.asarray(to_numpy(part), np.float64).tolist() if not isinstance(part, list) else part
        for part in (limits, counts)
    )
    proto = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=limits, bucket=counts
    )
    return Summary(value=[Summary.Value(tag=tag, histo=proto)])


def _picture(tag: str, pixels: Any, encoded: bytes) -> Summary:
    height, width, channels = pixels.shape[-3:]
    picture = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded)
    return Summary(value=[Summary.Value(tag=tag, image=picture)])


def image(tag: str, value: Values, rescale: float = 1, dataformats: str = "NCHW") -> Summary:
    """A record of an image with the dimensions `dataformats`."""
    pixels = to_pixels(arrange(to_numpy(value), dataformats))
    return _picture(tag, pixels, encode_png(pixels, rescale))


def image_boxes(
    tag: str,
    value: Values,
    boxes: Values,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: str | Sequence[str] | None = None,
) -> Summary:
    """A record of an image with boxes, whose rows are left, top, right, bottom in pixels."""
    from PIL import ImageDraw

    picture = pillow().fromarray(to_pixels(arrange(to_numpy(value), dataformats)))
    draw = ImageDraw.Draw(picture)
    for number, box in enumerate(to_numpy(boxes).reshape(-1, 4).tolist()):
        draw.rectangle(box, outline="red", width=2)
        if labels is not None:
            draw.text((box[0], box[1]), str(labels[number]), fill="red")

    pixels = np.asarray(picture)
    return _picture(tag, pixels, encode_png(pixels, rescale))


def video(tag: str, value: Values, fps: float = 4) -> Summary:
    """A record of a video N x T x C x H x W as an animated GIF, with the N videos of the batch in a grid."""
    array = to_numpy(value)
    if array.ndim != 5:
        raise AssertionError(f"add_video: expected dimensions N, T, C, H, W, got shape {array.shape}")
    frames = np.stack([to_pixels(arrange(array[:, time], "NCHW")) for time in range(array.shape[1])])
    return _picture(tag, frames, encode_gif(frames, fps))


def audio(tag: str, value: Values, sample_rate: int = 44100) -> Summary:
    """A record of a mono sound with values in [-1, 1], as 16-bit WAV."""
    samples = to_numpy(value).squeeze()
    if samples.ndim != 1:
        raise AssertionError(f"input tensor should be 1 dimensional, got shape {samples.shape}")

    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())

    proto = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=proto)])


def text(tag: str, content: str) -> Summary:
    """A record of text, which is shown as Markdown."""
    proto = TensorProto(dtype="DT_STRING", string_val=[content.encode("utf-8")], tensor_shape=_shape(1))
    return Summary(value=[Summary.Value(tag=tag + "/text_summary", metadata=_plugin("text"), tensor=proto)])


def pr_curve(
    tag: str, labels: Values, predictions: Values, num_thresholds: int = 127, weights: Values | None = None
) -> Summary:
    """A record of precision and recall for predictions in [0, 1] of labels 0 and 1, at `num_thresholds` (at
    most 127) evenly spaced thresholds."""
    count = min(num_thresholds, 127)
    truth = to_numpy(labels).reshape(-1).astype(np.float64)
    scores = to_numpy(predictions).reshape(-1).astype(np.float64)
    if weights is None:
        mass = np.ones_like(scores)
    else:
        mass = np.broadcast_to(to_numpy(weights).astype(np.float64).reshape(-1), scores.shape)

    # A prediction is positive for the threshold of its bucket and for all lower ones: sums from the end.
    bucket = np.floor(scores * (count - 1)).astype(np.int64)
    hits, alarms = (
        np.bincount(bucket, weights=part * mass, minlength=count)[::-1].cumsum()[::-1]
        for part in (truth, 1.0 - truth)
    )
    misses = hits[0] - hits
    rejections = alarms[0] - alarms

    precision = hits / np.maximum(1e-7, hits + alarms)
    recall = hits / np.maximum(1e-7, hits + misses)
    return pr_curve_raw(tag, hits, alarms, rejections, misses, precision, recall, count)


def pr_curve_raw(
    tag: str,
    tp: Values,
    fp: Values,
    tn: Values,
    fn: Values,
    precision: Values,
    recall: Values,
    num_thresholds: int = 127,
) -> Summary:
    """A record of a precision-recall curve from its values."""
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    count = min(num_thresholds, 127)
    rows = np.stack([to_numpy(part) for part in (tp, fp, tn, fn, precision, recall)])
    metadata = _plugin("pr_curves", PrCurvePluginData(version=0, num_thresholds=count).SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=_floats(rows, 6, count))])


def mesh(
    tag: str,
    vertices: Values,
    colors: Values | None = None,
    faces: Values | None = None,
    config_dict: dict[str, Any] | None = None,
) -> Summary:
    """A record of a mesh or a point cloud; vertices and faces have the shape B x N x 3."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    kinds = MeshPluginData.ContentType
    parts = [
        (kind, to_numpy(part))
        for kind, part in ((kinds.VERTEX, vertices), (kinds.FACE, faces), (kinds.COLOR, colors))
        if part is not None
    ]
    components = metadata.get_components_bitmask([kind for kind, _ in parts])

    values = []
    for kind, array in parts:
        name = metadata.get_instance_name(tag, kind)
        about = metadata.create_summary_metadata(
            tag, "", kind, components, list(array.shape), json_config=json.dumps(config_dict or {})
        )
        values.append(Summary.Value(tag=name, metadata=about, tensor=_floats(array, *array.shape)))
    return Summary(value=values)


def custom_scalars(layout: dict[str, dict[str, Any]]) -> Summary:
    """A record that declares charts, from {category: {chart: ["Multiline" or "Margin", tags]}}."""
    from tensorboard.plugins.custom_scalar import layout_pb2

    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                margin = layout_pb2.MarginChartContent(series=[series])
                made.append(layout_pb2.Chart(title=title, margin=margin))
            else:
                multiline = layout_pb2.MultilineChartContent(tag=tags)
                made.append(layout_pb2.Chart(title=title, multiline=multiline))
        categories.append(layout_pb2.Category(title=category, chart=made))

    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    metadata = _plugin("custom_scalars")
    return Summary(value=[Summary.Value(tag="custom_scalars__config__", tensor=proto, metadata=metadata)])


def hparams(
    hparam_dict: dict[str, Any],
    metric_dict: dict[str, Any],
    hparam_domain_discrete: dict[str, list[Any]] | None = None,
) -> tuple[Summary, Summary, Summary]:
    """Three records: of an experiment, of the start of a session with its parameters, and of its end.

    Raises TypeError unless both are dicts, and ValueError for a parameter that is not bool, str, float, int
    or a tensor of one element.
    """
    from google.protobuf import struct_pb2
    from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2

    if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
        raise TypeError("parameter: hparam_dict and metric_dict should be dictionaries, nothing logged.")

    domains = hparam_domain_discrete or {}
    infos = []
    start = plugin_data_pb2.SessionStartInfo()
    for name, value in hparam_dict.items():
        if value is None:
            continue
        kind, number = _hparam(name, value)
        start.hparams[name].CopyFrom(struct_pb2.Value(**number))
        info = api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(f"DATA_TYPE_{kind}"))
        if name in domains:
            info.domain_discrete.extend(
                struct_pb2.Value(**_hparam(name, choice)[1]) for choice in domains[name]
            )
        infos.append(info)

    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metric_dict]
    contents = {
        "experiment": plugin_data_pb2.HParamsPluginData(
            experiment=api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics), version=0
        ),
        "session_start_info": plugin_data_pb2.HParamsPluginData(session_start_info=start, version=0),
        "session_end_info": plugin_data_pb2.HParamsPluginData(
            session_end_info=plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS")),
            version=0,
        ),
    }
    first, second, third = (
        Summary(
            value=[
                Summary.Value(
                    tag=f"_hparams_/{name}",
                    metadata=_plugin("hparams", content.SerializeToString()),
                    tensor=_floats([], 0),
                )
            ]
        )
        for name, content in contents.items()
    )
    return first, second, third


def _hparam(name: str, value: Any) -> tuple[str, dict[str, Any]]:
    """TensorBoard's type of a parameter, and the field of a protobuf value."""
    if isinstance(value, bool):
        return "BOOL", {"bool_value": value}
    if isinstance(value, str):
        return "STRING", {"string_value": value}
    if isinstance(value, (int, float, np.number)) or (hasattr(value, "numel") and value.numel() == 1):
        return "FLOAT64", {"number_value": float(value)}
    raise ValueError(
        f"value should be one of int, float, str, bool, or torch.Tensor, got {type(value).__name__} for "
        f"hparam {name!r}"
    )
