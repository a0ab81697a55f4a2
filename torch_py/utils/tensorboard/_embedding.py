"""Writes the files of TensorBoard's projector: vectors with labels and pictures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from torch_py.utils.tensorboard._arrays import encode_png, to_numpy, to_pixels


def _write_rows(path: Path, rows: Any) -> None:
    path.write_text("".join("\t".join(str(value) for value in row) + "\n" for row in rows), encoding="utf-8")


def _sprite(images: Any) -> Any:
    """Arranges N x C x H x W in a square grid with as many columns as rows."""
    count, channels, height, width = images.shape
    side = math.ceil(math.sqrt(count))
    cells = np.zeros((side * side, height, width, channels), images.dtype)
    cells[:count] = images.transpose(0, 2, 3, 1)
    sheet = (
        cells.reshape(side, side, height, width, channels)
        .transpose(0, 2, 1, 3, 4)
        .reshape(side * height, side * width, channels)
    )
    return to_pixels(sheet)


def write_embedding(
    root: Path, folder: str, name: str, matrix: Any, metadata: Any, images: Any, header: Any
) -> Any:
    """Writes the files and adds them to the list in projector_config.pbtxt. Returns the new entry.

    Raises AssertionError if the numbers of rows, labels and pictures differ.
    """
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

    array = to_numpy(matrix)
    if array.ndim != 2:
        raise AssertionError(
            f"mat should be 2D, where mat.size(0) is the number of data points, got shape {array.shape}"
        )

    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    _write_rows(place / "tensors.tsv", array.tolist())
    entry = EmbeddingInfo(tensor_name=name, tensor_path=f"{folder}/tensors.tsv")

    if metadata is not None:
        if len(metadata) != len(array):
            raise AssertionError(
                f"#labels should equal with #data points, got {len(metadata)} and {len(array)}"
            )
        rows = [header, *metadata] if header else [[label] for label in metadata]
        _write_rows(place / "metadata.tsv", rows)
        entry.metadata_path = f"{folder}/metadata.tsv"

    if images is not None:
        pictures = to_numpy(images)
        if len(pictures) != len(array):
            raise AssertionError(
                f"#images should equal with #data points, got {len(pictures)} and {len(array)}"
            )
        (place / "sprite.png").write_bytes(encode_png(_sprite(pictures)))
        entry.sprite.image_path = f"{folder}/sprite.png"
        entry.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])

    listing = root / "projector_config.pbtxt"
    config = ProjectorConfig()
    if listing.exists():
        text_format.Parse(listing.read_text(encoding="utf-8"), config)
    config.embeddings.append(entry)
    listing.write_text(text_format.MessageToString(config), encoding="utf-8")
    return entry
