# settings that are given, and others by default
from dataclasses import dataclass

import jax

@dataclass
class Config:
    method: str = "replay"

class Trainer:
    def __init__(self, config=None):
        self.config = config or Config()
        self.kept = []

    def step(self, x):
        if self.config.method == "replay":
            self.kept.append(x)
        return x * 2

def run(x):
    return jax.jit(Trainer(Config(method="plain")).step)(x) + Trainer().step(x)
