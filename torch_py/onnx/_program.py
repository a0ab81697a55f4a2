"""`ONNXProgram`, the result of an export, and how it is saved and run."""

from __future__ import annotations

import os
from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.onnx._inputs import Inputs, take_apart
from torch_py.onnx.errors import OnnxExporterError
from torch_py.utils._pytree import tree_leaves

_LARGEST = 2**31 - 2**20  # bytes in one protobuf message


class ONNXProgram:
    """An exported model, which can be saved and run.

    Attributes:
        model_proto: the onnx.ModelProto.
    """

    def __init__(self, model_proto: Any, function: Any) -> None:
        self.model_proto = model_proto
        self._function = function
        self._session: Any = None

    def save(
        self,
        destination: Any,
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Writes the model to a path or a binary file object.

        With `external_data`, or if the model is larger than 2 GB, the weights go to a separate file next to
        it.
        """
        import onnx

        if not include_initializers or keep_initializers_as_inputs:
            raise OnnxExporterError(
                "ONNXProgram.save: pass export_params and keep_initializers_as_inputs to torch.onnx.export"
            )

        if hasattr(destination, "write"):
            destination.write(self.model_proto.SerializeToString())
            return

        path = os.fspath(destination)
        apart = external_data or self.model_proto.ByteSize() > _LARGEST

        copy = onnx.ModelProto()
        copy.CopyFrom(self.model_proto)
        onnx.save_model(
            copy,
            path,
            save_as_external_data=bool(apart),
            location=os.path.basename(path) + ".data" if apart else None,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Runs the model with onnxruntime on the arguments that the original takes."""
        if self._session is None:
            self._session = _session(self.model_proto)

        inputs: Inputs = take_apart(self._function, args, kwargs, None)
        tensors = [leaf for leaf in inputs.leaves if isinstance(leaf, Tensor)]
        names = [entry.name for entry in self._session.get_inputs()]
        feed = {name: tensor.detach().cpu().numpy() for name, tensor in zip(names, tensors)}
        return tuple(torch_py.from_numpy(result) for result in self._session.run(None, feed))

    def verify(self, expected: Any, args: Any, kwargs: Any) -> None:
        """Raises OnnxExporterError if the results of onnxruntime differ from `expected`."""
        wanted = [leaf for leaf in tree_leaves(expected) if isinstance(leaf, Tensor)]
        for position, (found, own) in enumerate(zip(self(*args, **kwargs), wanted)):
            own = own.detach().cpu()
            if found.shape != own.shape or not torch_py.allclose(
                found.to(own.dtype), own, rtol=1e-3, atol=1e-4, equal_nan=True
            ):
                raise OnnxExporterError(
                    f"torch.onnx.export: verify: output {position} of onnxruntime differs from the model's"
                )


def _session(model_proto: Any) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise OnnxExporterError(
            "running an exported model needs the package onnxruntime: pip install onnxruntime"
        ) from error

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Waiting threads should sleep instead of spinning.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(
        model_proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
