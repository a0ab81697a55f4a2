"""pytorch-metric-learning: losses over pairs and triplets, miners, distances, and a model in training."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers
from pytorch_metric_learning.utils.accuracy_calculator import get_label_match_counts

torch.manual_seed(0)
values, labels = torch.randn(12, 6), torch.arange(12) % 4
for make in (
    losses.ContrastiveLoss,
    losses.TripletMarginLoss,
    losses.NTXentLoss,
    losses.MultiSimilarityLoss,
    losses.CircleLoss,
    losses.LiftedStructureLoss,
    losses.SupConLoss,
    losses.AngularLoss,
    losses.GeneralizedLiftedStructureLoss,
    losses.NCALoss,
    losses.MarginLoss,
    losses.NPairsLoss,
):
    given = values.clone().requires_grad_()
    loss = make()(given, labels)
    loss.backward()
    print(make.__name__, loss.item(), given.grad.norm().item())
for make in (
    losses.ArcFaceLoss,
    losses.CosFaceLoss,
    losses.ProxyAnchorLoss,
    losses.ProxyNCALoss,
    losses.SoftTripleLoss,
    losses.SphereFaceLoss,
):
    torch.manual_seed(1)
    print(make.__name__, make(num_classes=4, embedding_size=6)(values, labels).item())
for make in (
    miners.MultiSimilarityMiner,
    miners.TripletMarginMiner,
    miners.BatchHardMiner,
    miners.BatchEasyHardMiner,
    miners.PairMarginMiner,
):
    print(make.__name__, [len(indices) for indices in make()(values, labels)])
for make in (
    distances.LpDistance,
    distances.CosineSimilarity,
    distances.DotProductSimilarity,
    distances.SNRDistance,
):
    print(make.__name__, make()(values).sum().item())
torch.manual_seed(2)
model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = losses.TripletMarginLoss(
    reducer=reducers.AvgNonZeroReducer(), embedding_regularizer=regularizers.LpRegularizer()
)
for _ in range(4):
    outputs = model(values)
    loss = criterion(outputs, labels, miners.TripletMarginMiner(type_of_triplets="semihard")(outputs, labels))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print("counts", [part.tolist() for part in get_label_match_counts(labels, labels, torch.eq)])
