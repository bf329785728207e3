# source: google-deepmind/tapnet#44
# blind: fourth

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    return hk.nets.MLP([32, 32, 1])(x)


class Tracker:
    def __init__(self, seed, frame_shape):
        self.network = hk.without_apply_rng(hk.transform(forward))
        self.params = self.network.init(jax.random.key(seed), jnp.zeros(frame_shape))

    @property
    def predict(self):
        return jax.jit(lambda params, x: jnp.squeeze(self.network.apply(params, x), -1))  # finding-also

    def track(self, frames):
        tracks = [self.predict(self.params, frame) for frame in frames]  # finding
        return jnp.stack(tracks)


def load_video(n_frames):
    rng = np.random.default_rng(0)
    for _ in range(n_frames):
        yield rng.normal(size=(16, 8)).astype(np.float32)


def main():
    tracker = Tracker(0, (16, 8))
    print(tracker.track(load_video(12)).shape)


if __name__ == "__main__":
    main()
