"""A NumPy buffer that the program fills again while JAX may still read it: compiled code reads it later than eager code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.codemods.test_purity import refusal

MODEL = """
W = jnp.ones(4)

def f(x):
    return jnp.sum(jnp.tanh(x * W))

"""
REFUSED = {
    "filled again in a loop": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(buf))\n",
    "made an array first": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(jnp.array(buf)))\n",
    "put on the device": "buf = np.zeros(4)\nx = jax.device_put(buf)\ny = f(x)\nbuf += 1\n",
    "changed afterwards": "buf = np.ones(4)\ny = f(jnp.asarray(buf))\nbuf[0] = 2\nprint(y)\n",
    "by a helper": "buf = np.zeros(4)\n\ndef fill(b, i):\n    b[:] = i\n\nout = []\nfor i in range(3):\n    fill(buf, i)\n    out.append(f(buf))\n",
    "read by a helper": "def use(b):\n    return f(jnp.asarray(b))\n\nbuf = np.zeros(4)\nout = []\nfor i in range(3):\n    out.append(use(buf))\n    buf += 1\n",
    "of an object": "class Reader:\n    def __init__(self):\n        self.buf = np.zeros(4)\n\n    def next(self, i):\n        self.buf[:] = i\n        return self.buf\n\nreader = Reader()\nout = [f(reader.next(i)) for i in range(3)]\n",
    "a view of it": "buf = np.zeros((2, 4))\nrow = buf[0]\nout = []\nfor i in range(3):\n    out.append(f(jnp.asarray(row)))\n    buf[:] = i\n",
    "through its bytes": "raw = bytearray(16)\nbuf = np.frombuffer(raw, dtype=np.float32)\nview = memoryview(raw).cast('f')\nout = []\nfor i in range(3):\n    out.append(f(jnp.array(buf)))\n    view[0] = i\n",
    "with out": "buf = np.ones(4)\nout = []\nfor i in range(3):\n    out.append(f(buf))\n    np.multiply(buf, 0.5, out=buf)\n",
    "copied into": "buf = np.ones(4)\nout = []\nfor i in range(3):\n    out.append(f(buf))\n    np.copyto(buf, i)\n",
    "read from a file": "buf = np.ones(4)\nout = []\nwith open('x', 'rb') as file:\n    while file.readinto(buf):\n        out.append(f(buf))\n",
    "filled by its method": "buf = np.ones(4)\nout = []\nfor i in range(3):\n    out.append(f(buf))\n    buf.fill(i)\n",
    "a buffer of the module": "BUF = np.ones(4)\n\ndef turn(i):\n    BUF[:] = i\n    return f(jnp.array(BUF))\n\nout = [turn(i) for i in range(3)]\n",
    "of two that take turns": "pair = [np.zeros(4), np.zeros(4)]\nout = []\nfor i in range(9):\n    buf = pair[i % 2]\n    buf[:] = i\n    out.append(f(buf))\n",
    "in a dict": "batch = {'x': np.zeros(4)}\nout = []\nfor i in range(3):\n    batch['x'][:] = i\n    out.append(f(batch['x']))\n",
    "beside an array": "buf = np.zeros(4)\nscale = jnp.ones(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(scale * buf))\n",
    "waited for now and then": "buf = np.zeros(4)\nout = []\nfor i in range(30):\n    buf[:] = i\n    y = f(buf)\n    if i % 10 == 0:\n        print(float(y))\n    out.append(y)\n",
    "waited for something else": "buf = np.zeros(4)\nother = f(jnp.ones(4))\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(buf))\n    print(float(other))\n",
    "on a path behind a flag": "import sys\nbuf = np.ones(4)\nout = []\nfor i in range(3):\n    out.append(f(buf))\n    if '--more' in sys.argv:\n        buf *= 2\n",
    "given by a generator": "def batches():\n    buf = np.zeros(4)\n    for i in range(3):\n        buf[:] = i\n        yield buf\n\nout = [f(one) for one in batches()]\n",
    "in another thread": "import threading\nbuf = np.zeros(4)\n\ndef fill():\n    for i in range(3):\n        buf[:] = i\n\nthreading.Thread(target=fill).start()\ny = f(buf)\n",
}  # fmt: skip
FINE = {
    "filled before": "buf = np.zeros(4)\nbuf[0] = 1\ny = f(jnp.array(buf))\n",
    "new in each turn": "out = []\nfor i in range(3):\n    buf = np.zeros(4)\n    buf[:] = i\n    out.append(f(buf))\n",
    "a copy is given": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(jnp.array(buf.copy())))\n",
    "waited for": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    y = f(buf)\n    out.append(float(y))\n",
    "waited for at once": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(float(f(buf)))\n",
    "waited for by name": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(buf).block_until_ready())\n",
    "waited for by a helper": "def use(b):\n    return float(f(jnp.asarray(b)))\n\nbuf = np.zeros(4)\nout = []\nfor i in range(3):\n    out.append(use(buf))\n    buf += 1\n",
    "rows of the result": "xs = np.zeros((9, 4))\nfor i in range(8):\n    xs[i + 1] = f(xs[i])\n",
    "another buffer": "buf, log = np.zeros(4), np.zeros(3)\nfor i in range(3):\n    log[i] = f(buf)\n",
    "only results are kept in it": "log = np.zeros(3)\nfor i in range(3):\n    log[i] = float(f(jnp.ones(4)))\nprint(f(jnp.asarray(log[:1])))\n",
    "made by a helper": "def make(i):\n    buf = np.zeros(4)\n    buf[:] = i\n    return buf\n\nout = [f(jnp.array(make(i))) for i in range(3)]\n",
    "a list": "buf = [0.0, 0.0, 0.0, 0.0]\nout = []\nfor i in range(3):\n    buf[0] = i\n    out.append(f(jnp.array(buf)))\n",
    "NumPy alone": "buf = np.zeros(4)\nfor i in range(3):\n    buf[:] = i\n    print(buf.sum())\ny = f(jnp.ones(4))\n",
    "sums are new arrays": "buf = np.zeros(4)\nout = []\nfor i in range(3):\n    buf[:] = i\n    out.append(f(jnp.array(buf + 1)))\n",
    "set again": "total = np.zeros(4)\nout = []\nfor i in range(3):\n    out.append(f(total))\n    total = total + 1\n",
    "an array of JAX": "x = jnp.zeros(4)\nout = []\nfor i in range(3):\n    out.append(f(x))\n    x += 1\n",
    "filled by the constructor": "class Data:\n    def __init__(self):\n        self.rows = np.zeros(4)\n        self.rows[:] = 3\n\ndata = Data()\nout = [f(jnp.asarray(data.rows)) for _ in range(3)]\n",
    "stopped by its value": "buf = np.zeros(4)\nwhile True:\n    y = f(buf)\n    if y > 3:\n        break\n    buf += 1\n",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_buffer_may_change_while_jax_reads_it(tmp_path: Path, name: str) -> None:
    assert "while JAX may still read it" in refusal(tmp_path, MODEL + REFUSED[name])


@pytest.mark.parametrize("name", FINE)
def test_a_buffer_that_jax_has_read_may_change(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, MODEL + FINE[name]) == ""
