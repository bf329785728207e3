# dictionaries of settings and arrays together
import jax
import jax.numpy as jnp

def block(x, p, cfg):
    if cfg["norm"] == "layer":
        x = x - x.mean()
    for name in cfg["order"]:
        if name in p:
            x = x @ p[name]
    return jax.nn.relu(x) if cfg["act"] else x

def make(cfg):
    @jax.jit
    def forward(params, x):
        for i in range(cfg["depth"]):
            p = params[f"block_{i}"]
            x = block(x, p, cfg)
            if i < len(params) - 1 and cfg.get("residual", False):
                x = x + 1
        return x

    return forward

forward = make({"norm": "layer", "order": ["w", "v"], "act": True, "depth": 2})
forward({"block_0": {"w": jnp.eye(2)}, "block_1": {"v": jnp.eye(2)}}, jnp.ones((1, 2)))
