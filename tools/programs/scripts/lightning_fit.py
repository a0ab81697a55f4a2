"""What use_lightning.py and use_pytorch_lightning.py do: the same package under two names."""

import importlib
import tempfile
import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset


def fit(package):
    """A module fitted by the Trainer with validation, callbacks and a checkpoint that is read again."""
    warnings.filterwarnings("ignore")
    pl = importlib.import_module(package)
    callbacks, loggers = (importlib.import_module(f"{package}.{name}") for name in ("callbacks", "loggers"))

    class Regression(pl.LightningModule):
        def __init__(self, width=16):
            super().__init__()
            self.save_hyperparameters()
            self.body = torch.nn.Sequential(
                torch.nn.Linear(4, width), torch.nn.Tanh(), torch.nn.Linear(width, 1)
            )

        def training_step(self, batch, index):
            values, wanted = batch
            loss = torch.nn.functional.mse_loss(self.body(values), wanted)
            self.log("training", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch, index):
            values, wanted = batch
            self.log("validation", torch.nn.functional.mse_loss(self.body(values), wanted))

        def predict_step(self, batch, index):
            return self.body(batch[0])

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters(), lr=0.02)
            return {
                "optimizer": optimizer,
                "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5),
            }

    pl.seed_everything(0, verbose=False)
    values = torch.randn(64, 4)
    data = TensorDataset(values, values.sum(1, keepdim=True).sin())
    model = Regression()
    with tempfile.TemporaryDirectory() as folder:
        keep = callbacks.ModelCheckpoint(folder, monitor="validation", filename="best")
        trainer = pl.Trainer(
            max_epochs=3,
            accelerator="cpu",
            devices=1,
            enable_progress_bar=False,
            enable_model_summary=True,
            log_every_n_steps=1,
            default_root_dir=folder,
            callbacks=[keep, callbacks.EarlyStopping("validation"), callbacks.LearningRateMonitor()],
            logger=loggers.CSVLogger(folder),
            gradient_clip_val=1.0,
            accumulate_grad_batches=2,
        )
        trainer.fit(model, DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=32))
        print(
            "fitted",
            trainer.global_step,
            *(trainer.callback_metrics[name].item() for name in ("training_epoch", "validation")),
        )
        print("rate", trainer.optimizers[0].param_groups[0]["lr"])
        again = Regression.load_from_checkpoint(keep.best_model_path, weights_only=False)
        print("again", again.hparams.width, torch.equal(again.body[0].weight, model.body[0].weight))
        print(
            "validated",
            trainer.validate(again, DataLoader(data, batch_size=32), verbose=False)[0]["validation"],
        )
        print("predicted", torch.cat(trainer.predict(again, DataLoader(data, batch_size=32))).std().item())
        trainer = pl.Trainer(
            max_epochs=4,
            accelerator="cpu",
            enable_progress_bar=False,
            enable_model_summary=False,
            logger=False,
        )
        trainer.fit(
            Regression(),
            DataLoader(data, 16),
            DataLoader(data, 32),
            ckpt_path=keep.best_model_path,
            weights_only=False,
        )
        print("resumed", trainer.current_epoch, trainer.callback_metrics["validation"].item())
