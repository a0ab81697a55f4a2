"""Trains a convolutional network on scikit-learn's 1,797 handwritten digits and draws the results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch_py as torch
from torch_py import nn
from torch_py.utils.data import DataLoader, TensorDataset

SEED = 0
HELD_OUT = 0.2
BATCH_SIZE = 64


class DigitNet(nn.Module):
    """Images (N, 1, 8, 8) to scores of the ten digits (N, 10)."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )

        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.25), nn.Linear(2 * width * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(images))


def load_data() -> tuple[TensorDataset, TensorDataset]:
    """Examples to train on and examples held out; pixels scaled to [0, 1]."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
    labels = torch.from_numpy(digits.target).long()
    order = torch.randperm(len(labels))
    held_out = int(HELD_OUT * len(labels))
    parts = [TensorDataset(images[chosen], labels[chosen]) for chosen in (order[held_out:], order[:held_out])]
    return parts[0], parts[1]


def evaluate(model: nn.Module, dataset: TensorDataset) -> tuple[float, torch.Tensor]:
    """Share of right answers, and the answers."""
    images, labels = dataset.tensors
    model.eval()
    with torch.no_grad():
        answers = model(images).argmax(1)
    return (answers == labels).float().mean().item(), answers


def steps(model: Any, dataset: TensorDataset, epochs: int) -> Iterator[float]:
    """Trains, and yields the loss of every step."""
    loader: DataLoader[Any] = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    model.train()

    for _ in range(epochs):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            yield float(loss)


def train(model: nn.Module, dataset: TensorDataset, epochs: int) -> list[float]:
    """The loss of every step; shows a bar, or a line for each epoch."""
    from tqdm import tqdm

    in_epoch = -(-len(dataset) // BATCH_SIZE)
    losses: list[float] = []
    with tqdm(total=epochs * in_epoch, desc="training", unit="step", disable=None) as bar:
        for loss in steps(model, dataset, epochs):
            losses.append(loss)
            bar.update()
            if len(losses) % in_epoch:
                continue

            epoch = len(losses) // in_epoch
            mean = f"{sum(losses[-in_epoch:]) / in_epoch:.4f}"
            bar.set_postfix(epoch=epoch, loss=mean)
            if bar.disable:  # a log has no place for a bar
                print(f"   epoch {epoch:2d} of {epochs}  loss {mean}", flush=True)
    return losses


def draw_losses(losses: list[float], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.semilogy(losses, linewidth=0.7, alpha=0.5, label="every step")
    window = 25
    axes.semilogy(
        range(window - 1, len(losses)),
        [sum(losses[i - window + 1 : i + 1]) / window for i in range(window - 1, len(losses))],
        label=f"mean of {window}",
    )
    axes.set(xlabel="step", ylabel="cross entropy")
    axes.legend()
    figure.savefig(path, dpi=120)


def draw_predictions(dataset: TensorDataset, answers: torch.Tensor, path: Path) -> None:
    """Ten held-out digits with the answer above each, wrong ones first."""
    from matplotlib.figure import Figure

    images, labels = dataset.tensors
    chosen = (answers == labels).long().argsort(stable=True)[:10].tolist()
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    for place, index in enumerate(chosen):
        axes = figure.add_subplot(2, 5, place + 1)
        axes.imshow(images[index, 0].numpy(), cmap="gray_r")
        answer, truth = int(answers[index]), int(labels[index])
        axes.set_title(
            f"{answer}" if answer == truth else f"{answer} (is {truth})",
            color="black" if answer == truth else "crimson",
        )
        axes.axis("off")
    figure.savefig(path, dpi=120)


def run(output: Path, epochs: int) -> float:
    """Trains, writes pictures and weights to `output`, and returns the accuracy on held-out digits.

    The files are loss.png, predictions.png and digits.pt.
    """
    torch.manual_seed(SEED)
    training, held_out = load_data()

    model = DigitNet()
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"1. A convolutional network with {count:,} parameters,", end=" ")
    print(f"{len(training):,} handwritten digits to learn from, {len(held_out)} held out", flush=True)

    started = time.perf_counter()
    losses = train(model, training, epochs)
    seconds = time.perf_counter() - started
    accuracy, answers = evaluate(model, held_out)

    print(
        f"   trained {len(losses)} steps in {seconds:.1f} s; {accuracy:.1%} of the held-out digits are "
        "recognised"
    )

    torch.save(model.state_dict(), output / "digits.pt")
    draw_losses(losses, output / "loss.png")
    draw_predictions(held_out, answers, output / "predictions.png")
    print(
        f"   pictures: {output / 'loss.png'}, {output / 'predictions.png'}; weights: {output / 'digits.pt'}"
    )

    return accuracy


if __name__ == "__main__":
    raise SystemExit("a part of the demo: python examples/demo.py --part digits")
