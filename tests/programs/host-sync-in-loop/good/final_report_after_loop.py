# source: optuna/optuna#4210
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def run(x, target):
    def body(x, _):
        loss, g = jax.value_and_grad(lambda x: jnp.sum((x - target) ** 2))(x)
        return x - 0.1 * g, loss

    return jax.lax.scan(body, x, length=50)


def report(results):
    for name, losses in results.items():
        losses = np.asarray(losses)
        print(f"{name}: {losses[0]:.3f} -> {losses[-1]:.3f}", losses.tolist()[:3])


def main():
    results = {}
    for name, target in {"near": 1.0, "far": 10.0}.items():
        _, results[name] = run(jnp.zeros(3), target)
    report(jax.device_get(results))


if __name__ == "__main__":
    main()
