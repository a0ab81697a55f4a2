"""Whether kernels use threads, which they always do."""


def is_available() -> bool:
    return True
