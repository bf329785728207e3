# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


class EMATracker:
    """Exponential moving average with bias correction."""

    def __init__(self, decay=0.99):
        self.decay = decay
        self.n_updates = 0

    def init(self, value):
        return jnp.zeros_like(value)

    @functools.partial(jax.jit, static_argnums=0)
    def update(self, avg, value):
        self.n_updates += 1  # finding
        avg = self.decay * avg + (1 - self.decay) * value
        corrected = avg / (1 - self.decay**self.n_updates)  # finding-also
        return avg, corrected


def noisy_signal(key, steps):
    t = jnp.linspace(0.0, 1.0, steps)
    return 1.0 + 0.05 * jax.random.normal(key, (steps,)) + 0.0 * t

  # finding-other
def main():
    tracker = EMATracker()
    signal = noisy_signal(jax.random.key(0), 20)
    avg = tracker.init(signal[0])
    for value in signal:
        avg, corrected = tracker.update(avg, value)
    print("corrected mean", corrected, "updates", tracker.n_updates)


if __name__ == "__main__":
    main()
