# source: jax-ml/jax#3160
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np

WINDOW = np.hanning(64).astype(np.float32)


def mel_filters(n_fft, n_mels, rate):
    """Constant filter bank, computed once with numpy."""
    freqs = np.fft.rfftfreq(n_fft, 1.0 / rate)
    centers = np.linspace(0.0, rate / 2, n_mels + 2)
    up = (freqs[None] - centers[:-2, None]) / (centers[1:-1] - centers[:-2])[:, None]
    down = (centers[2:, None] - freqs[None]) / (centers[2:] - centers[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(up, down)).astype(np.float32)


@functools.partial(jax.jit, static_argnames=("hop",))
def log_mel(signal, hop=32):
    n_fft = WINDOW.shape[0]
    n_frames = int(np.floor((signal.shape[0] - n_fft) / hop)) + 1
    idx = np.arange(n_frames)[:, None] * hop + np.arange(n_fft)[None]
    frames = signal[idx] * WINDOW
    power = jnp.abs(jnp.fft.rfft(frames, axis=-1)) ** 2
    mel = power @ mel_filters(n_fft, 8, 8000.0).T
    return jnp.log(mel + 1e-6) / np.sqrt(n_fft)


def main():
    t = np.arange(2048) / 8000.0
    signal = jnp.asarray(np.sin(2 * np.pi * 440.0 * t), jnp.float32)
    out = log_mel(signal)
    print(out.shape, np.asarray(out).mean())


if __name__ == "__main__":
    main()
