"""The switch for the fused path of attention layers in evaluation mode."""

_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    return _fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    global _fastpath_enabled
    _fastpath_enabled = bool(value)
