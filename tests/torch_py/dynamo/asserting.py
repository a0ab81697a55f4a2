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


def asserted_before_statistics(x):
    assert (x > 0).all()
    return NORM(x.reshape(3, 1))


def asserted_before_a_custom_function(x):
    assert (x > 0).all()
    return _Counted.apply(x)


class _Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


NORM = torch.nn.BatchNorm1d(1)


def asserted_after_changes_of_own_tensors(x):
    y = x.clone()
    y.view(-1).add_(1)
    assert y.sum() > 0
    y += torch.nn.functional.relu(y, inplace=True)
    return y[:2].mul_(2)


def asserted_after_a_draw(x):
    noise = torch.rand(3)
    assert (x > 0).all()
    return noise


def asserted_before_a_draw(x):
    assert (x > 0).all()
    return torch.nn.functional.dropout(x)


def asserted_for_the_graph(x, position):
    assert (position < 3).all(), "too high"
    return x[position]


def checked(x):
    y = x * 2
    if (y == 4).any():
        raise ValueError(f"four among {tuple(y.shape)}")
    for bound in (100, 10):
        if not (y < bound).all():
            raise OverflowError("too large:", bound)
    return y.sin()


def checked_and_handled(x):
    try:
        return checked(x) + 1
    except ValueError as error:
        return str(error), x + 2


def checked_by_a_distribution(x):
    scale = torch.distributions.Exponential(x)
    return scale.log_prob(x * 2) + scale.mean
