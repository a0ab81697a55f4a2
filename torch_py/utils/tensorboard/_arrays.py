"""Converts values to NumPy arrays, and arrays to pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_py._tensor import Tensor

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
    Values = Tensor | Array | np.generic | float | Sequence[Any]


def to_numpy(value: Values) -> Any:
    """The array of a tensor, an array, a number or a list of them.

    Raises NotImplementedError for anything else.
    """
    if isinstance(value, Tensor):
        if value.dtype.itemsize > 2 or not value.dtype.is_floating_point:
            return value.detach().cpu().numpy()
        return value.detach().float().numpy()  # NumPy lacks some of the 16-bit dtypes

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


def to_pixels(image: Array) -> Any:
    """Converts an image to uint8 in [0, 255]; floating-point values are in [0, 1]."""
    if image.dtype == np.uint8:
        return image
    return np.clip(image.astype(np.float32) * 255, 0, 255).astype(np.uint8)


def arrange(array: Array, layout: str) -> Any:
    """Converts an image to height x width x 3.

    `layout` names its dimensions in their order, for example HW or CHW; a batch, with N, becomes a grid.
    """
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


def with_three_channels(image: Array) -> Any:
    """An image with three channels, repeated if it has only one."""
    return np.concatenate([image] * 3, axis=-1) if image.shape[-1] == 1 else image


def in_grid(batch: Array, columns: int = 8) -> Any:
    """Arranges N x H x W x C in one image, with at most `columns` in a row; remaining cells are black."""
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
    """The module PIL.Image. Raises ImportError, with what to install, if it is missing."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures for TensorBoard need the Pillow package: pip install pillow") from error
    return Image


def encode_png(pixels: Array, scale: float = 1) -> bytes:
    """The bytes of a PNG file with the image, enlarged by `scale`."""
    image = pillow().fromarray(pixels)
    if scale != 1:
        image = image.resize((int(image.width * scale), int(image.height * scale)))
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def encode_gif(frames: Array, rate: float) -> bytes:
    """The bytes of an animated GIF with the frames T x H x W x C in uint8, at `rate` frames per second."""
    images = [pillow().fromarray(with_three_channels(frame)) for frame in frames]
    file = io.BytesIO()
    images[0].save(file, format="GIF", save_all=True, append_images=images[1:], duration=1000 / rate, loop=0)
    return file.getvalue()
