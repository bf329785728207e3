# source: apax-hub/apax#66
# blind: nineteenth

import jax
import jax.numpy as jnp


def soft_assign(values, lo, hi, bins):
    pos = (values - lo) / (hi - lo) * (bins - 1)
    left = jnp.clip(jnp.floor(pos).astype(jnp.int32), 0, bins - 2)
    frac = jnp.clip(pos - left, 0.0, 1.0)
    return left, frac


def streaming_histogram(values, lo, hi, bins):
    left, frac = soft_assign(values, lo, hi, bins)
    hist = jnp.zeros_like(left, shape=(bins,))  # finding

    def insert(hist, sample):
        idx, w = sample
        hist = hist.at[idx].add(1.0 - w)  # finding-also
        hist = hist.at[idx + 1].add(w)  # finding-also
        return hist, hist.sum()

    return jax.lax.scan(insert, hist, (left, frac))


def project_distribution(probs, atoms, reward, gamma):
    lo, hi, bins = atoms[0], atoms[-1], atoms.shape[0]
    shifted = jnp.clip(reward + gamma * atoms, lo, hi)
    left, frac = soft_assign(shifted, lo, hi, bins)
    out = jnp.zeros_like(probs)
    out = out.at[left].add(probs * (1.0 - frac))
    return out.at[left + 1].add(probs * frac)


@jax.jit
def return_distribution(returns):
    hist, mass = streaming_histogram(returns, -10.0, 10.0, 51)
    return hist / jnp.maximum(hist.sum(), 1), mass


def main():
    key = jax.random.key(0)
    returns = jnp.clip(3.0 * jax.random.normal(key, (5000,)) + 1.0, -9.9, 9.9)
    probs, mass = return_distribution(returns)
    atoms = jnp.linspace(-10.0, 10.0, 51)
    mean = jnp.sum(probs * atoms)
    shifted = project_distribution(probs, atoms, 1.0, 0.9)
    print("mean of samples", float(returns.mean()), "mean of histogram", float(mean))
    print("samples counted", float(mass[-1]), "mass after the Bellman shift", float(shifted.sum()))


if __name__ == "__main__":
    main()
