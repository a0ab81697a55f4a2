"""`GradScaler`, which multiplies losses so that float16 gradients do not
vanish, and skips steps whose gradients overflow."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from torch_py.optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """The state of an optimizer between two updates of the scale."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """The progress of one optimizer since the last update."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: dict[Any, Tensor] = {}  # by device: one if a gradient is infinite or nan


class GradScaler:
    """Multiplies losses by a scale that grows while gradients are finite and shrinks when they are not.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    Args:
        init_scale: the first scale
        growth_factor, growth_interval: the scale is multiplied by the factor after that many consecutive
            updates with finite gradients
        backoff_factor: the scale is multiplied by it if a gradient was infinite or nan
        enabled: False makes `scale` and `step` have no effect of their own

    Raises:
        AssertionError: unless the growth factor is above one and the backoff factor below one

    Example:
        >>> scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale(torch.tensor(2.0))
        tensor(16.)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and int(_C._cuda_getDeviceCount()) == 0:
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False

        if not self._enabled:
            return

        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")

        self._init_scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None  # created with the first loss
        self._growth_tracker: Tensor | None = None
        self._progress: dict[int, _Progress] = {}

    def _start(self, device: Any) -> None:
        if self._scale is None:
            self._scale = _C.tensor(self._init_scale, dtype=_C.float32, device=device)
            self._growth_tracker = _C.tensor(self._init_growth_tracker, dtype=_C.int32, device=device)

    def _started(self, caller: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {caller} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale, self._growth_tracker

    def _of(self, optimizer: Optimizer) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress())

    def scale(self, outputs: Any) -> Any:
        """Multiplies a tensor by the scale, or each tensor of a list or another iterable.

        Raises ValueError for anything else.
        """
        if not self._enabled:
            return outputs

        if isinstance(outputs, Tensor):
            self._start(outputs.device)
            assert self._scale is not None
            return outputs * self._scale.to(outputs.device, non_blocking=True)
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            scaled = [self.scale(each) for each in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled  # type: ignore[call-arg]
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimizer's parameters by the scale, so that they can be clipped or
        inspected before `step`.

        Raises RuntimeError for a second call between two updates, and ValueError for gradients in float16.
        """
        if not self._enabled:
            return

        scale, _ = self._started("unscale_")
        progress = self._of(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")

        progress.found_inf = self._unscaled(optimizer, scale.double().reciprocal().float())
        progress.stage = OptState.UNSCALED

    def _unscaled(self, optimizer: Optimizer, inverse: Tensor) -> dict[Any, Tensor]:
        """Multiplies the gradients by `inverse`.

        Returns for each device one if a gradient is infinite or nan, otherwise zero.
        """
        gradients = [
            parameter.grad
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]

        if any(gradient.dtype == _C.float16 for gradient in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")

        by_device: dict[Any, list[Tensor]] = {}
        for gradient in gradients:
            by_device.setdefault(gradient.device, []).append(gradient)

        found: dict[Any, Tensor] = {}
        with no_grad():
            for device, group in by_device.items():
                found[device] = _torch.zeros((), dtype=_C.float32, device=device)
                _torch._amp_foreach_non_finite_check_and_unscale_(
                    group, found[device], inverse.to(device, non_blocking=True)
                )
        return found

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Calls ``optimizer.step(*args, **kwargs)`` with gradients divided by the scale, unless one of them
        is infinite or nan.

        Raises RuntimeError for a closure and for a second call between two updates, and AssertionError for an
        optimizer without gradients.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)

        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")

        self._started("step")
        progress = self._of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")

        if progress.stage is OptState.READY:
            self.unscale_(optimizer)

        gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
        if all(gradient is None for gradient in gradients):
            raise AssertionError("No inf checks were recorded for this optimizer.")

        overflowed = any(found.item() for found in progress.found_inf.values())
        result = None if overflowed else optimizer.step(*args, **kwargs)
        progress.stage = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Sets the next scale: to `new_scale`, or depending on whether all optimizers had finite gradients
        since the last update."""
        if not self._enabled:
            return

        scale, tracker = self._started("update")
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.FloatTensor with requires_grad=False, "
                    f"got a tensor of shape {tuple(new_scale.shape)}, "
                    f"requires_grad={new_scale.requires_grad}"
                )
            scale.fill_(new_scale if not isinstance(new_scale, Tensor) else new_scale.item())
        else:
            found = [
                flag.to(scale.device, non_blocking=True)
                for progress in self._progress.values()
                for flag in progress.found_inf.values()
            ]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            overflowed = _torch.stack(found).amax()
            _torch._amp_update_scale_(
                scale, tracker, overflowed, self._growth_factor, self._backoff_factor, self._growth_interval
            )

        self._progress.clear()

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        """The flag of an optimizer since the last update, by device:
        one if a gradient was infinite or nan."""
        return dict(self._of(optimizer).found_inf)

    def __getstate__(self) -> dict[str, Any]:
        """The state with the scale as a number.

        Raises AssertionError between `unscale_` and `update`, because optimizers are known by identity.
        """
        state = self.__dict__.copy()

        if self._enabled:
            if self._progress:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the "
                    "end after scaler.update()."
                )
            state.update(
                _init_scale=self.get_scale(),
                _init_growth_tracker=self._get_growth_tracker(),
                _scale=None,
                _growth_tracker=None,
            )

        return state

    # Settings

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The scale, or 1.0 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of updates with finite gradients before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets the number of updates with finite gradients before the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether the scaler has any effect."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale, the factors, the interval, and the number of updates with
        finite gradients; empty if the scaler is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what `state_dict` returned.

        Raises RuntimeError for an empty dict, which a disabled scaler returns.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )

        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]

        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)


__getattr__ = _lacking(__name__)
