"""torch-geometric: graphs in batches, convolutions and pooling in pure Python, trained for some steps."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    APPNP,
    ChebConv,
    EdgeConv,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    GraphConv,
    GraphNorm,
    SAGEConv,
    Sequential,
    TAGConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import (
    add_self_loops,
    degree,
    scatter,
    softmax,
    subgraph,
    to_dense_adj,
    to_dense_batch,
    to_undirected,
)

torch.manual_seed(0)
edges = to_undirected(torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2], [1, 2, 3, 4, 5, 0, 3, 5]]))
features = torch.randn(6, 8)
print(
    "degree",
    degree(edges[0], 6).tolist(),
    add_self_loops(edges)[0].shape,
    subgraph([0, 1, 2], edges)[0].tolist(),
)
print("dense", to_dense_adj(edges).sum().item(), softmax(torch.arange(16.0), edges[0]).sum().item())
print(
    "scatter",
    [scatter(features[edges[0]], edges[1], reduce=how).sum().item() for how in ("sum", "mean", "max", "min")],
)

body = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
pairs = torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.ReLU())
for name, make in (
    ("gcn", lambda: GCNConv(8, 4)),
    ("gat", lambda: GATConv(8, 4, heads=2)),
    ("gatv2", lambda: GATv2Conv(8, 4)),
    ("sage", lambda: SAGEConv(8, 4)),
    ("gin", lambda: GINConv(body)),
    ("graph", lambda: GraphConv(8, 4)),
    ("cheb", lambda: ChebConv(8, 4, K=2)),
    ("edge", lambda: EdgeConv(pairs)),
    ("tag", lambda: TAGConv(8, 4)),
    ("transformer", lambda: TransformerConv(8, 4)),
    ("appnp", lambda: APPNP(3, 0.1)),
):
    torch.manual_seed(1)
    layer, given = make(), features.clone().requires_grad_()
    out = layer(given, edges)
    out.square().sum().backward()
    print(name, tuple(out.shape), out.norm().item(), given.grad.norm().item())

graphs = [
    Data(
        x=torch.randn(n, 8),
        edge_index=to_undirected(torch.stack([torch.arange(n - 1), torch.arange(1, n)])),
        y=n % 2,
    )
    for n in range(3, 11)
]
loader = DataLoader(graphs, batch_size=4, shuffle=True)
torch.manual_seed(2)
model = Sequential(
    "x, edge_index, batch",
    [
        (GCNConv(8, 16), "x, edge_index -> x"),
        (GraphNorm(16), "x, batch -> x"),
        torch.nn.ReLU(),
        (GCNConv(16, 16), "x, edge_index -> x"),
        (global_mean_pool, "x, batch -> x"),
        torch.nn.Linear(16, 2),
    ],
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    total = 0.0
    for batch in loader:
        loss = torch.nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("loss", total)
print(
    "pooled",
    global_add_pool(batch.x, batch.batch).sum().item(),
    global_max_pool(batch.x, batch.batch).sum().item(),
)
print("padded", to_dense_batch(batch.x, batch.batch)[1].sum().item(), batch.num_graphs, batch[0])
