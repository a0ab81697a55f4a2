"""skorch: a classifier and a regressor as scikit-learn estimators, grid search, early stopping, pickling."""

import pickle

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring
from torch import nn

torch.manual_seed(0)
X, y = make_classification(200, 10, n_informative=5, random_state=0)
X = X.astype(np.float32)


class Net(nn.Module):
    def __init__(self, hidden=8, outputs=2):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def forward(self, X):
        return self.layers(X)


net = NeuralNetClassifier(
    Net,
    criterion=nn.CrossEntropyLoss,
    max_epochs=4,
    lr=0.1,
    verbose=0,
    iterator_train__shuffle=True,
    callbacks=[EarlyStopping(patience=3), EpochScoring("accuracy", name="train_accuracy", on_train=True)],
)
net.fit(X, y)
for row in net.history:
    print("epoch", row["epoch"], row["train_loss"], row["valid_loss"], row["valid_acc"])
print("probabilities", net.predict_proba(X).sum(0).tolist())
print("pickled", np.array_equal(pickle.loads(pickle.dumps(net)).predict(X), net.predict(X)))
print("folds", cross_val_score(make_pipeline(StandardScaler(), net), X, y, cv=2).tolist())
search = GridSearchCV(
    net, {"lr": [0.05, 0.1], "module__hidden": [4, 8]}, cv=2, scoring="accuracy", refit=False
).fit(X, y)
print("search", search.cv_results_["mean_test_score"].tolist())
regressor = NeuralNetRegressor(Net, module__outputs=1, optimizer=torch.optim.Adam, max_epochs=3, verbose=0)
regressor.fit(X, X[:, :1] * 2)
print("regression", float(regressor.predict(X).mean()))
