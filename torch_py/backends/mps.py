"""Apple's GPUs, which this build does not use."""


def is_available() -> bool:
    return False


def is_built() -> bool:
    return False


def is_macos_or_newer(major: int = 0, minor: int = 0) -> bool:
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    return False
