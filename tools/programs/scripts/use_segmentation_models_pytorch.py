"""segmentation-models-pytorch: decoders over encoders, losses, metrics, trained for a step."""

import declare_torchvision  # noqa: F401  # first
import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
images, masks = torch.randn(2, 3, 64, 64), torch.randint(0, 2, (2, 1, 64, 64))
for kind in (smp.Unet, smp.UnetPlusPlus, smp.FPN, smp.PSPNet, smp.DeepLabV3Plus, smp.Linknet, smp.MAnet):
    torch.manual_seed(1)
    model = kind("resnet18", encoder_weights=None, in_channels=3, classes=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss = smp.losses.DiceLoss("binary")(model(images), masks)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print(
            kind.__name__,
            sum(p.numel() for p in model.parameters()),
            loss.item(),
            model(images).mean().item(),
            flush=True,
        )
logits = torch.randn(2, 3, 16, 16)
labels = torch.randint(0, 3, (2, 16, 16))
print(
    "losses",
    [
        make(logits, labels).item()
        for make in (
            smp.losses.DiceLoss("multiclass"),
            smp.losses.JaccardLoss("multiclass"),
            smp.losses.FocalLoss("multiclass"),
            smp.losses.LovaszLoss("multiclass"),
            smp.losses.TverskyLoss("multiclass"),
        )
    ],
)
counts = smp.metrics.get_stats(logits.argmax(1), labels, mode="multiclass", num_classes=3)
print(
    "metrics",
    smp.metrics.iou_score(*counts, reduction="micro").item(),
    smp.metrics.f1_score(*counts, reduction="macro").item(),
)
