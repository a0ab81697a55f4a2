"""torchmetrics: classification, regression, text and image metrics, accumulated over batches; a gradient."""

import torch
import torchmetrics
from torchmetrics import functional as M

torch.manual_seed(0)
target = torch.randint(0, 4, (60,))
scores = torch.randn(60, 4)
collection = torchmetrics.MetricCollection(
    {
        "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=4),
        "f1": torchmetrics.F1Score(task="multiclass", num_classes=4, average="macro"),
        "auroc": torchmetrics.AUROC(task="multiclass", num_classes=4),
        "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4),
        "precision": torchmetrics.AveragePrecision(task="multiclass", num_classes=4),
        "kappa": torchmetrics.CohenKappa(task="multiclass", num_classes=4),
        "calibration": torchmetrics.CalibrationError(task="multiclass", num_classes=4),
        "matthews": torchmetrics.MatthewsCorrCoef(task="multiclass", num_classes=4),
    }
)
for part in range(3):
    rows = slice(20 * part, 20 * part + 20)
    collection.update(scores[rows].softmax(-1), target[rows])
for name, value in collection.compute().items():
    print(name, value.tolist())
predicted, truth = torch.randn(50), torch.randn(50)
for name in (
    "mean_squared_error",
    "mean_absolute_error",
    "r2_score",
    "pearson_corrcoef",
    "spearman_corrcoef",
    "kendall_rank_corrcoef",
    "explained_variance",
):
    print(name, getattr(M, name)(predicted, truth).item())
images, others = torch.rand(2, 3, 32, 32), torch.rand(2, 3, 32, 32)
print("ssim", M.structural_similarity_index_measure(images, others).item())
print("psnr", M.peak_signal_noise_ratio(images, others).item())
print("variation", M.total_variation(images).item())
print("perplexity", M.text.perplexity(torch.randn(2, 8, 5), torch.randint(5, (2, 8))).item())
print("bleu", M.bleu_score(["the cat is on the mat"], [["there is a cat on the mat"]]).item())
print("words", M.word_error_rate(["this is it"], ["this was it"]).item())
running = torchmetrics.MeanMetric()
for value in (1.0, 2.0, 6.0):
    running(value)
print("mean", running.compute().item())
weights = torch.randn(50, requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=1.0)
loss = 1 - M.cosine_similarity(weights[None], truth[None])
loss.sum().backward()
optimizer.step()
print("gradient", weights.grad.norm().item(), weights.sum().item())
