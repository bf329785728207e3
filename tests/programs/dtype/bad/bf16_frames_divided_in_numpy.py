# source: p-doom/jasmine#123
# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

DTYPE = jnp.bfloat16


class FrameEncoder(nn.Module):
    dim: int = 32

    @nn.compact
    def __call__(self, video):
        b, t, h, w, c = video.shape
        x = video.reshape(b * t, h, w, c)
        x = nn.Conv(self.dim, (4, 4), strides=(4, 4), param_dtype=DTYPE)(x)
        x = nn.gelu(x)
        return x.reshape(b, t, -1)


def preprocess(frames):
    frames = np.asarray(frames).astype(DTYPE)  # finding-also
    return frames / 255.0  # finding


@jax.jit
def encode(variables, video):
    return FrameEncoder().apply(variables, video)


def main():
    rng = np.random.default_rng(0)
    raw = rng.integers(0, 256, size=(2, 4, 16, 16, 3), dtype=np.uint8)
    train_video = jnp.asarray(raw, DTYPE) / 255.0
    variables = FrameEncoder().init(jax.random.key(0), train_video)
    print("train", encode(variables, train_video).dtype)
    print("sample", encode(variables, preprocess(raw)).dtype)


if __name__ == "__main__":
    main()
