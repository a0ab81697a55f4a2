"""Programs with assertions, in a file where pytest leaves them as they are."""

import torch_py as torch


def asserted(x, log):
    for scale in (1, 2):
        x = x * scale
        log.append(scale)
        assert not (x < 0).any(), f"negative: {x.tolist()}"
    try:
        assert x.sum() < 100
    except AssertionError as error:
        return x, error
    return x


def asserted_after_a_change(x):
    x.add_(1)
    assert (x > 0).all()
    return x * 2


def asserted_after_a_draw(x):
    noise = torch.rand(3)
    assert (x > 0).all()
    return noise


def asserted_for_the_graph(x, position):
    assert (position < 3).all(), "too high"
    return x[position]
