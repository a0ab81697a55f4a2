"""Values of users as NumPy arrays, and arrays as pictures."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from torch_py._tensor import Tensor


def to_numpy(value: Any) -> Any:
    """An array of a tensor, array or number. Raises NotImplementedError for anything else."""
    if isinstance(value, Tensor):
        return (
            value.detach().cpu().numpy()
            if value.dtype.itemsize > 2 or not value.dtype.is_floating_point
            else value.detach().float().numpy()
        )
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if isinstance(value, (bool, int, float)):
        return np.asarray([value])
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(item, (Tensor, np.ndarray, bool, int, float)) for item in value)
    ):
        return np.asarray([to_numpy(item) for item in value])
    raise NotImplementedError(f"got {type(value)}, but a tensor, NumPy array or number was expected")


def to_pixels(image: Any) -> Any:
    """uint8 in [0, 255]; floating-point values are taken to be in [0, 1]."""
    return (
        image if image.dtype == np.uint8 else np.clip(image.astype(np.float32) * 255, 0, 255).astype(np.uint8)
    )


def arrange(array: Any, layout: str) -> Any:
    """An image as height x width x 3 of one in any order of the letters in `layout`: HW, CHW, and a batch
    with N, which is put into a grid."""
    letters = layout.upper()
    if len(letters) != len(set(letters)) or not set(letters) <= set("NCHW"):
        raise AssertionError(f"dataformats: expected different letters of NCHW, got {layout!r}")
    if array.ndim != len(letters):
        raise AssertionError(
            f"size of input tensor and input format are different: tensor shape: {array.shape}, "
            f"input_format: {layout}"
        )
    if "C" not in letters:
        array = array[..., None]
        letters = letters + "C"
    if "N" in letters:
        return in_grid(array.transpose([letters.index(letter) for letter in "NHWC"]))
    return with_three_channels(array.transpose([letters.index(letter) for letter in "HWC"]))


def with_three_channels(image: Any) -> Any:
    return np.concatenate([image] * 3, axis=-1) if image.shape[-1] == 1 else image


def in_grid(batch: Any, columns: int = 8) -> Any:
    """N x H x W x C as one image of at most `columns` side by side, black where none is left."""
    batch = with_three_channels(batch)
    count, height, width, channels = batch.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    cells = np.zeros((rows * columns, height, width, channels), batch.dtype)
    cells[:count] = batch
    return (
        cells.reshape(rows, columns, height, width, channels)
        .transpose(0, 2, 1, 3, 4)
        .reshape(rows * height, columns * width, channels)
    )


def pillow() -> Any:
    """PIL.Image. Raises ImportError that says what to install."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures for TensorBoard need the Pillow package: pip install pillow") from error
    return Image


def encode_png(pixels: Any, scale: float = 1) -> bytes:
    image = pillow().fromarray(pixels)
    if scale != 1:
        image = image.resize((int(image.width * scale), int(image.height * scale)))
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def encode_gif(frames: Any, rate: float) -> bytes:
    """Of T x H x W x C uint8, `rate` frames a second."""
    images = [pillow().fromarray(with_three_channels(frame)) for frame in frames]
    file = io.BytesIO()
    images[0].save(file, format="GIF", save_all=True, append_images=images[1:], duration=1000 / rate, loop=0)
    return file.getvalue()
