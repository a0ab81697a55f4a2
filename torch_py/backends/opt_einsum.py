"""Whether einsum chooses the order of its products, by the number of multiplications; else it goes from left
to right."""

enabled = True
strategy = "auto"


def is_available() -> bool:
    return True
