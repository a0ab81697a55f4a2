"""Trains a network so that a run that is killed and resumed gives the same bits as one that is not.

python examples/resume.py --checkpoint run.pt [--steps 200] [--every 20]
    Trains; if run.pt exists, continues from it.
python examples/resume.py --proof
    Kills and resumes a run, and compares it with one that is not disturbed.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class Run:
    """Everything that the next step depends on."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        digits = load_digits()
        self.images = torch.from_numpy(digits.images).float()[:, None] / 16
        self.labels = torch.from_numpy(digits.target)

        self.model = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Linear(256, 10),
        )

        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 50, 0.5)
        self.step = 0

    def parts(self) -> dict:
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "random": torch.get_rng_state(),
            "step": self.step,
        }

    def resume(self, path: Path) -> None:
        parts = torch.load(path)
        self.model.load_state_dict(parts["model"])
        self.optimizer.load_state_dict(parts["optimizer"])
        self.scheduler.load_state_dict(parts["scheduler"])
        torch.set_rng_state(parts["random"])
        self.step = parts["step"]

    def train_step(self) -> float:
        rows = torch.randint(len(self.images), (64,))
        loss = F.cross_entropy(self.model(self.images[rows]), self.labels[rows])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.step += 1
        return loss.item()

    def digest(self) -> str:
        """Of the bits of all parameters and statistics."""
        bits = b"".join(tensor.numpy().tobytes() for tensor in self.model.state_dict().values())
        return hashlib.sha256(bits).hexdigest()[:16]


def train(checkpoint: Path, steps: int, every: int) -> None:
    run = Run()
    if checkpoint.exists():
        run.resume(checkpoint)
        print(f"resumed at step {run.step}", flush=True)
    while run.step < steps:
        loss = run.train_step()
        if run.step % every == 0 or run.step == steps:
            torch.save(run.parts(), checkpoint)  # the old file stays until the new one is complete
            print(f"step {run.step}  loss {loss:.4f}  saved", flush=True)
    print(f"weights {run.digest()}", flush=True)


def proof(steps: int, every: int) -> int:
    """Two runs, one of them killed (SIGKILL) again and again."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--steps", str(steps), "--every", str(every), "--checkpoint"]
        undisturbed = subprocess.run(
            [*command, f"{folder}/one.pt"], check=True, capture_output=True, text=True
        ).stdout.split()[-1]

        kills = 0
        while True:
            process = subprocess.Popen([*command, f"{folder}/two.pt"], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            saved = 0
            for line in process.stdout:
                saved += line.startswith("step")
                if saved == 2 and kills < 3:  # somewhere in the steps after a checkpoint
                    process.kill()
                    kills += 1
                    break

            remaining = process.communicate()[0]
            if process.returncode == 0:
                disturbed = (line + remaining).split()[-1]
                break

    print(
        f"undisturbed {undisturbed}, killed {kills} times {disturbed}: "
        f"{'the same bits' if undisturbed == disturbed else 'DIFFERENT'}"
    )
    return 0 if undisturbed == disturbed else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--proof", action="store_true")
    options = parser.parse_args()
    if options.proof:
        sys.exit(proof(options.steps, options.every))
    if options.checkpoint is None:
        parser.error("give --checkpoint FILE, or --proof")
    train(options.checkpoint, options.steps, options.every)
