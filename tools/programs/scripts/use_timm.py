"""timm: convolutional networks and transformers by name, one training step, timm's optimizers and losses."""

import declare_torchvision  # noqa: F401  # first
import timm
import torch
from timm.data import Mixup
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV2, accuracy

TRANSFORMERS = ("vit_tiny_patch16_224", "deit_tiny_patch16_224")
torch.manual_seed(0)
images, labels = torch.randn(2, 3, 64, 64), torch.tensor([1, 3])
for name, options in (
    ("resnet10t", {}),
    ("mobilenetv3_small_050", {}),
    ("efficientnet_lite0", {}),
    ("regnetx_002", {}),
    ("convnext_atto", {}),
    ("vit_tiny_patch16_224", {"img_size": 64}),
    ("deit_tiny_patch16_224", {"img_size": 64}),
    ("mixer_s32_224", {"img_size": 64}),
    ("ghostnet_050", {}),
    ("lcnet_050", {}),
    ("poolformer_s12", {}),
    ("tf_efficientnetv2_b0", {}),
):
    torch.manual_seed(1)
    model = timm.create_model(name, pretrained=False, num_classes=5, **options)
    # What batch normalization removes has no gradient but rounding errors, which Adam would scale up to whole
    # steps.
    optimizer = create_optimizer_v2(
        model, opt="adamw" if name in TRANSFORMERS else "sgd", lr=1e-4, weight_decay=0.05
    )
    loss = LabelSmoothingCrossEntropy()(model(images), labels)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print(name, sum(p.numel() for p in model.parameters()), loss.item(), model(images).std().item())
features = timm.create_model("resnet10t", features_only=True, pretrained=False)(images)
print("features", [tuple(feature.shape) for feature in features], features[-1].mean().item())
mixed, soft = Mixup(mixup_alpha=0.0, cutmix_alpha=0.0, prob=0.0, num_classes=5)(images.clone(), labels)
print("mixup", soft.sum().item(), accuracy(torch.eye(5)[labels], labels, topk=(1,))[0].item())
schedule = CosineLRScheduler(optimizer, t_initial=10, warmup_t=2)
schedule.step(5)
print("schedule", optimizer.param_groups[0]["lr"], ModelEmaV2(model, decay=0.9).module.num_classes)
