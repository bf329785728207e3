# an operation and its inverse need the same numbers
import jax


def rotate(x, key):
    signs = jax.random.rademacher(key, x.shape, x.dtype)
    return x * signs, x.shape


def inverse_rotate(x, key, shape):
    signs = jax.random.rademacher(key, shape, x.dtype)
    return x * signs


def encode(x, key):
    return x + jax.random.normal(key, x.shape)


def decode(x, key):
    return x - jax.random.normal(key, x.shape)


def jitter(x, key):
    return x + jax.random.normal(key, x.shape)


@jax.jit
def quantized(x, key):
    rotated, shape = rotate(x, key)
    return inverse_rotate(rotated.round(2), key, shape)


@jax.jit
def there_and_back(x, key):
    hidden = encode(x, key)
    return decode(hidden, key)


@jax.jit
def twice(x, key):
    hidden = encode(x, key)
    return jitter(hidden, key)  # finding


@jax.jit
def apart(x, y, key):
    hidden = encode(x, key)
    return hidden, decode(y, key)  # finding
