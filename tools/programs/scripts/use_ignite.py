"""Trains with ignite's engines, metrics and handlers."""

import torch
from ignite.contrib.handlers import ProgressBar  # noqa: F401  # imports the distributed parts
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import EarlyStopping
from ignite.metrics import Accuracy, Loss

torch.manual_seed(0)
inputs = torch.randn(64, 4)
targets = (inputs.sum(1) > 0).long()
batches = [(inputs[start : start + 16], targets[start : start + 16]) for start in range(0, 64, 16)]

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
loss = torch.nn.CrossEntropyLoss()

trainer = create_supervised_trainer(model, optimizer, loss)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(loss)})
stopping = EarlyStopping(3, lambda engine: -engine.state.metrics["loss"], trainer)
evaluator.add_event_handler(Events.COMPLETED, stopping)


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    metrics = evaluator.run(batches).metrics
    print(engine.state.epoch, f"{metrics['accuracy']:.4f} {metrics['loss']:.5f}")


trainer.run(batches, max_epochs=5)
