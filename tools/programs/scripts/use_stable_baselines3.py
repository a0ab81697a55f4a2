"""stable-baselines3: PPO, A2C, DQN, SAC and TD3 learn for some steps in a tiny environment."""

import tempfile

import gymnasium
import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.evaluation import evaluate_policy

torch.set_num_threads(1)


class Walk(gymnasium.Env):
    """Go to the origin: on a line, by steps to the left or right, or by any real step."""

    def __init__(self, real):
        self.observation_space = gymnasium.spaces.Box(-4.0, 4.0, (2,), np.float32)
        self.action_space = (
            gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32) if real else gymnasium.spaces.Discrete(2)
        )
        self.real = real
        self.place = 1.0
        self.time = 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place = float(self.np_random.uniform(-2, 2))
        self.time = 0
        return self.observation(), {}

    def observation(self):
        return np.array([self.place, self.time / 16], np.float32)

    def step(self, action):
        self.place = float(
            np.clip(self.place + (float(action[0]) if self.real else 0.5 * (2 * int(action) - 1)), -4, 4)
        )
        self.time += 1
        return self.observation(), -abs(self.place), False, self.time == 16, {}


for kind, real, options in (
    (PPO, False, {"n_steps": 32, "batch_size": 16, "n_epochs": 2}),
    (A2C, False, {}),
    (PPO, True, {"n_steps": 32, "batch_size": 16, "n_epochs": 2}),
    (DQN, False, {"learning_starts": 20}),
    (SAC, True, {"learning_starts": 20}),
    (TD3, True, {"learning_starts": 20}),
):
    model = kind("MlpPolicy", Walk(real), seed=0, device="cpu", **options)
    model.learn(64)
    weights = sum(p.double().abs().sum().item() for p in model.policy.parameters())
    print(kind.__name__, real, model.num_timesteps, weights, flush=True)
with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/model")
    again = TD3.load(f"{folder}/model", env=Walk(True), device="cpu")
observation = np.array([1.0, 0.5], np.float32)
print(
    "again",
    np.array_equal(
        again.predict(observation, deterministic=True)[0], model.predict(observation, deterministic=True)[0]
    ),
)
print("reward", np.isfinite(evaluate_policy(again, Walk(True), n_eval_episodes=2, warn=False)[0]))
