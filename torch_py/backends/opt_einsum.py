"""The setting by which einsum chooses the order of its products: the
fewest multiplications, or from left to right."""

enabled = True
strategy = "auto"


def is_available() -> bool:
    return True
