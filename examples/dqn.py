"""Balances a pole on a cart by deep Q-learning (Mnih et al. 2015).

The environment is that of Barto, Sutton & Anderson (1983), written out below.

python examples/dqn.py [--steps 3000] [--small]
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class Cart:
    """A cart that is pushed left (0) or right (1).

    The episode ends when the pole leans over 12 degrees or the cart is 2.4 m away.
    """

    GRAVITY = 9.8
    CART = 1.0
    POLE = 0.1
    HALF_LENGTH = 0.5
    FORCE = 10.0
    SECONDS = 0.02

    def reset(self) -> list[float]:
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, action: int) -> tuple[list[float], float, bool]:
        x, speed, angle, turning = self.state
        total, moment = self.CART + self.POLE, self.POLE * self.HALF_LENGTH
        push = (self.FORCE if action else -self.FORCE) + moment * turning**2 * math.sin(angle)
        twist = (self.GRAVITY * math.sin(angle) - math.cos(angle) * push / total) / (
            self.HALF_LENGTH * (4 / 3 - self.POLE * math.cos(angle) ** 2 / total)
        )
        acceleration = (push - moment * twist * math.cos(angle)) / total
        changes = (speed, acceleration, turning, twist)
        self.state = [value + self.SECONDS * change for value, change in zip(self.state, changes)]
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return self.state, 1.0, fallen


def network(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)
    )


def training(
    small: bool = False, prepare: Prepare = as_it_is, lengths: list[int] | None = None
) -> Iterator[float]:
    """The loss of each update; the lengths of the episodes go to `lengths`."""
    torch.manual_seed(0)
    random.seed(0)

    batch, width, discount = (32, 32, 0.99) if small else (128, 128, 0.99)
    online, target = network(width), network(width)
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.AdamW(online.parameters(), lr=1e-3, amsgrad=True)

    online, target = prepare(online), prepare(target)

    memory: deque = deque(maxlen=10_000)
    cart = Cart()
    state = cart.reset()
    length = 0
    steps = 0

    while True:
        explore = 0.05 + 0.85 * math.exp(-steps / 500)
        with torch.no_grad():
            action = (
                random.randrange(2)
                if random.random() < explore
                else int(online(torch.tensor(state)).argmax())
            )

        following, reward, fallen = cart.step(action)
        memory.append((state, action, reward, following, float(fallen)))
        state, length, steps = following, length + 1, steps + 1

        if fallen or length == 500:
            if lengths is not None:
                lengths.append(length)
            state, length = cart.reset(), 0

        if len(memory) < batch:
            continue
        states, actions, rewards, followings, ends = (
            torch.tensor(column) for column in zip(*random.sample(memory, batch))
        )

        with torch.no_grad():
            wanted = rewards + discount * (1 - ends) * target(followings).max(1).values
        loss = F.smooth_l1_loss(online(states).gather(1, actions[:, None])[:, 0], wanted)

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(online.parameters(), 100)
        optimizer.step()

        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.data.lerp_(fast.data, 0.005)
        yield loss.item()


if __name__ == "__main__":
    lengths: list[int] = []
    train(__doc__, lambda small, prepare: training(small, prepare, lengths), 3000)
    print(f"the pole stood for {lengths[0]} steps at first, for {max(lengths)} at best (of 500)")
