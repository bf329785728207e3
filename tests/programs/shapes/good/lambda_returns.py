# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


def lambda_returns(reward, next_value, discount, lam):
    def body(ret, xs):
        r, v, d = xs
        ret = r + d * ((1.0 - lam) * v + lam * ret)
        return ret, ret

    _, out = jax.lax.scan(body, next_value[-1], (reward, next_value, discount), reverse=True)
    return out


batched_returns = jax.jit(jax.vmap(lambda_returns, in_axes=(1, 1, 1, None), out_axes=1))


def reference(reward, next_value, discount, lam):
    out = np.zeros_like(reward)
    ret = next_value[-1]
    for t in reversed(range(reward.shape[0])):
        ret = reward[t] + discount[t] * ((1 - lam) * next_value[t] + lam * ret)
        out[t] = ret
    return out


def simulate(key, horizon, envs):
    k1, k2, k3 = jax.random.split(key, 3)
    reward = jax.random.normal(k1, (horizon, envs))
    value = jax.random.normal(k2, (horizon, envs))
    done = jax.random.bernoulli(k3, 0.05, (horizon, envs))
    return reward, value, 0.97 * (1.0 - done)


def main():
    reward, value, discount = simulate(jax.random.key(0), 30, 6)
    out = batched_returns(reward, value, discount, 0.9)
    expected = reference(np.asarray(reward), np.asarray(value), np.asarray(discount), 0.9)
    error = float(np.abs(np.asarray(out) - expected).max())
    print("returns", out.shape, "max error", error)
    assert error < 1e-4


if __name__ == "__main__":
    main()
