"""`SummaryWriter`, which writes measurements of a program to files that TensorBoard shows."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from torch_py.utils.tensorboard import summary
from torch_py.utils.tensorboard._arrays import to_numpy
from torch_py.utils.tensorboard._embedding import write_embedding
from torch_py.utils.tensorboard._graph import graph_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.summary_pb2 import Summary

    from torch_py.nn.modules.module import Module
    from torch_py.utils.tensorboard._arrays import Values

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Appends records to one event file in `log_dir`.

    Up to `max_queue` records wait in memory, for at most `flush_secs` seconds.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the event file."""
        return self.event_writer.get_logdir()

    def add_event(
        self, event: event_pb2.Event, step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes an event with its time and step."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Summary, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes a record of one step."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph: GraphDef, walltime: float | None = None) -> None:
        """Writes the graph of a model."""
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)

    def flush(self) -> None:
        """Writes the records that wait in memory."""
        self.event_writer.flush()

    def close(self) -> None:
        """Writes the waiting records and closes the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes measurements to `log_dir` (default: runs/DATE_HOST followed by `comment`).

    It is a context manager; a closed writer opens again when it is used.

    TensorBoard hides earlier records of steps from `purge_step` on, for a run that continues after a crash.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            started = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = Path("runs") / f"{started}_{socket.gethostname()}{comment}"

        self.log_dir = str(log_dir)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix

        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._scalar_dict: dict[str, Any] = {}
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = self._open(self.log_dir)
            self.all_writers = {self.log_dir: self.file_writer}
            if self.purge_step is not None:
                self._purge(self.file_writer, self.purge_step)
                self.purge_step = None
        return self.file_writer

    def _open(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    @staticmethod
    def _purge(writer: FileWriter, step: int) -> None:
        # TensorBoard reads the start of a session only with this version.
        writer.add_event(event_pb2.Event(step=step, file_version="brain.Event:2"))
        writer.add_event(
            event_pb2.Event(step=step, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))
        )

    def get_logdir(self) -> str:
        """The folder of the event files."""
        return self.log_dir

    def _add(self, record: Summary, global_step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(record, global_step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Values,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Writes one number."""
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Writes a point of several curves in one diagram. Each curve has its own folder and file."""
        self._get_file_writer()
        assert self.all_writers is not None

        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = self._open(folder)
            self.all_writers[folder].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Values, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes a tensor."""
        self._add(summary.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Values,
        global_step: int | None = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Writes a histogram of `values`."""
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Values,
        bucket_counts: Values,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Writes a histogram from its buckets. Raises ValueError unless there is one count for each limit."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(
                f"len(bucket_limits) != len(bucket_counts): {len(bucket_limits)} and {len(bucket_counts)}, "
                "see the document."
            )

        record = summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(record, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Values,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Writes an image, uint8 in [0, 255] or floating-point in [0, 1], with
        the dimensions `dataformats`: CHW, HWC or HW."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Values,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Writes a batch of images in a grid, with the dimensions `dataformats`."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Values,
        box_tensor: Values,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Writes an image with boxes, whose rows are left, top, right, bottom in pixels, and their labels."""
        texts = [labels] if isinstance(labels, str) else labels
        record = summary.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, texts)
        self._add(record, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Figure | list[Figure],
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Writes a matplotlib figure, or several of the same size as a grid, and closes them if `close`."""
        import numpy as np

        figures = figure if isinstance(figure, list) else [figure]
        images = []
        for each in figures:
            from matplotlib.backends.backend_agg import FigureCanvasAgg

            canvas = FigureCanvasAgg(each)
            canvas.draw()
            images.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
            if close:
                import matplotlib.pyplot as plt

                plt.close(each)

        if isinstance(figure, list):
            self.add_images(tag, np.stack(images), global_step, walltime, dataformats="NHWC")
        else:
            self.add_image(tag, images[0], global_step, walltime, dataformats="HWC")

    def add_video(
        self,
        tag: str,
        vid_tensor: Values,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Writes a video of shape N x T x C x H x W."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Values,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Writes a mono sound with values in [-1, 1]."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Writes text, which is shown as Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt: str | os.PathLike[str]) -> None:
        """Not implemented: raises NotImplementedError."""
        raise NotImplementedError(
            "SummaryWriter.add_onnx_graph: torch_py does not read ONNX files for TensorBoard; add_graph "
            "takes the model"
        )

    def add_graph(
        self, model: Module, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Writes the graph of functions with which `model` computes its output, grouped by modules.

        `input_to_model` is a tensor or a tuple of arguments.

        The graph is the one that backward follows. Raises ValueError without an input, or if the output does
        not depend on anything differentiable.
        """
        if input_to_model is None:
            raise ValueError(
                "add_graph: input_to_model must be given, the graph is found by running the model"
            )
        graph = graph_of(model, input_to_model)
        if verbose:
            print(graph)
        self._get_file_writer().add_graph(graph)

    def add_embedding(
        self,
        mat: Values,
        metadata: Sequence[Any] | None = None,
        label_img: Values | None = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Writes vectors (the rows of `mat`) with labels and pictures (N x C x H x W) for the projector."""
        self._get_file_writer()
        step = "0" if global_step is None else str(global_step)
        folder = f"{step.zfill(5)}/{tag}"
        write_embedding(
            Path(self.log_dir), folder, f"{tag}:{step.zfill(5)}", mat, metadata, label_img, metadata_header
        )

    def add_pr_curve(
        self,
        tag: str,
        labels: Values,
        predictions: Values,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Values | None = None,
        walltime: float | None = None,
    ) -> None:
        """Writes a precision-recall curve of predictions in [0, 1] for labels 0 and 1."""
        record = summary.pr_curve(tag, to_numpy(labels), to_numpy(predictions), num_thresholds, weights)
        self._add(record, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Values,
        false_positive_counts: Values,
        true_negative_counts: Values,
        false_negative_counts: Values,
        precision: Values,
        recall: Values,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Values | None = None,
        walltime: float | None = None,
    ) -> None:
        """Writes a precision-recall curve from its values."""
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        self._add(
            summary.pr_curve_raw(tag, *counts, precision, recall, num_thresholds), global_step, walltime
        )

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Declares a chart that shows several scalars."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Declares a chart that shows a scalar with its margin; `tags` are
        the value, its lower and its upper bound."""
        if len(tags) != 3:
            raise AssertionError(f"add_custom_scalars_marginchart: expected 3 tags, got {len(tags)}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Declares charts: {category: {chart: ["Multiline" or "Margin", tags]}}."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_mesh(
        self,
        tag: str,
        vertices: Values,
        colors: Values | None = None,
        faces: Values | None = None,
        config_dict: dict[str, Any] | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Writes a mesh or a point cloud; vertices and faces have the shape B x N x 3."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Writes the parameters of a run and its results, in a separate run below `log_dir`."""
        records = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        with SummaryWriter(str(Path(self.log_dir) / (run_name or str(time.time())))) as writer:
            for record in records:
                writer._add(record, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def flush(self) -> None:
        """Writes the records that wait in memory."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Writes the waiting records and closes the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
