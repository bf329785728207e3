# function: spectrum
# arguments: x=array
# refused: results.put(power)

"""Results are handed to a consumer by a queue."""

import queue
import threading

import jax
import jax.numpy as jnp

results = queue.Queue()
received = []


def consume():
    while True:
        item = results.get()
        if item is None:
            return
        received.append(item)


def spectrum(x):
    power = jnp.abs(jnp.fft.rfft(x)) ** 2
    results.put(power)
    return power.sum()


def main():
    worker = threading.Thread(target=consume)
    worker.start()
    x = jax.random.normal(jax.random.key(0), (256,))
    for number in range(40):
        total = spectrum(x * number)
    results.put(None)
    worker.join()
    print("received", len(received), "total", total)


if __name__ == "__main__":
    main()
