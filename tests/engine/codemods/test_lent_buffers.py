"""A NumPy buffer that the program fills again while JAX may still read it: compiled code reads it later than eager code does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.array_aliases import Aliases
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import Program
from jaxlint.source import read_source
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
    "filled by the function that makes it, and again": "def fill(mask):\n    mask[1] += 1\n    return mask\n\ndef make():\n    mask = np.zeros(4)\n    return fill(mask)\n\ndef main():\n    mask = make()\n    out = []\n    for _ in range(3):\n        out.append(f(mask))\n        fill(mask)\n\nmain()\n",
    "an item of each item of a returned tuple": "ones, BUF = np.ones(4), np.zeros(4)\n\ndef make():\n    return (ones, ones), (BUF, ones)\n\nout = []\nfor i in range(3):\n    for a, b in make():\n        out.append(f(a))\n    BUF[:] = i\n",
    "an item of a returned tuple": "BUF = np.zeros(4)\n\ndef step(i):\n    return np.ones(4), BUF\n\nout = []\nfor i in range(3):\n    _, buf = step(i)\n    buf[:] = i\n    out.append(f(BUF))\n",
    "in another thread": "import threading\nbuf = np.zeros(4)\n\ndef fill():\n    for i in range(3):\n        buf[:] = i\n\nthreading.Thread(target=fill).start()\ny = f(buf)\n",
}  # fmt: skip
FINE = {
    "filled by the function that makes it": "def make():\n    mask = np.zeros(4)\n    mask[1] = 1\n    return np.ones(4), (mask, ~(mask > 0))\n\ndef main():\n    x, (mask, rest) = make()\n    def loss(w):\n        return f(w * mask)\n    return [jax.grad(loss)(x) for _ in range(3)]\n\nmain()\n",
    "another item of the same tuple and list": "class Env:\n    def __init__(self):\n        self.at = np.zeros(4)\n\n    def step(self, i):\n        rewards = np.zeros(4)\n        for n in range(4):\n            rewards[n] = i * n\n        return self.at + i, rewards\n\nenv = Env()\nseen = []\nout = []\nobs = np.zeros(4)\nfor i in range(9):\n    new, rewards = env.step(i)\n    out.append(f(obs))\n    seen.append((obs, rewards))\n    obs = new\n",
    "two arrays in one dict": "held = {'sent': np.ones(4), 'count': np.zeros(4)}\nsent, count = held['sent'], np.zeros(4)\nboth = [sent, count]\nout = []\nfor i in range(3):\n    out.append(f(sent))\n    count[:] = i\n",
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


# Loaders that fill one buffer again: what is handed on through queues, iterators, threads and files.
REUSED = {
    "queue thread": 'import queue, threading\nbuf = np.zeros(4)\nq = queue.Queue(2)\ndef fill():\n    for i in range(9):\n        buf[:] = i\n        q.put(buf)\nthreading.Thread(target=fill).start()\nout = []\nfor _ in range(9):\n    out.append(f(q.get()))\n',
    "queue of two buffers, in a class": 'import queue, threading\nclass Loader:\n    def __init__(self):\n        self.buffers = [np.zeros(4) for _ in range(3)]\n        self.queue = queue.Queue(1)\n    def fill(self):\n        for i in range(9):\n            out = self.buffers[i % 3]\n            np.multiply(2, i, out=out)\n            self.queue.put(out)\n        self.queue.put(None)\n    def __iter__(self):\n        threading.Thread(target=self.fill).start()\n        while (one := self.queue.get()) is not None:\n            yield one\nout = [f(one) for one in Loader()]\n',
    "deque": 'import collections\nbuf = np.zeros(4)\nwaiting = collections.deque()\nout = []\nfor i in range(9):\n    buf[:] = i\n    waiting.append(jnp.asarray(buf))\n    if len(waiting) > 2:\n        out.append(f(waiting.popleft()))\n',
    "prefetch generator": 'import collections\ndef prefetch(it, n=2):\n    waiting = collections.deque()\n    for one in it:\n        waiting.append(jax.device_put(one))\n        if len(waiting) > n:\n            yield waiting.popleft()\n    while waiting:\n        yield waiting.popleft()\n\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nout = [f(one) for one in prefetch(batches())]\n',
    "prefetch raw": 'import collections\ndef prefetch(it, n=2):\n    waiting = collections.deque()\n    for one in it:\n        waiting.append(one)\n        if len(waiting) > n:\n            yield waiting.popleft()\n    while waiting:\n        yield waiting.popleft()\n\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nout = [f(one) for one in prefetch(batches())]\n',
    "prefetch map": "import collections\ndef prefetch(it, n=2):\n    waiting = collections.deque()\n    for one in it:\n        waiting.append(jax.tree.map(jnp.asarray, one))\n        if len(waiting) > n:\n            yield waiting.popleft()\n    while waiting:\n        yield waiting.popleft()\n\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield {'x': buf}\n\nout = [f(one['x']) for one in prefetch(batches())]\n",
    "list of it": 'def batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nkept = []\nfor one in batches():\n    kept.append(jnp.asarray(one))\nout = [f(one) for one in kept]\n',
    "comprehension": 'def batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nkept = [jnp.asarray(one) for one in batches()]\nout = [f(one) for one in kept]\n',
    "map": 'def batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nout = [f(one) for one in map(jnp.asarray, batches())]\n',
    "memmap r+b": "live = np.memmap('x', dtype=np.float32, mode='r', shape=(4,))\nout = []\nfor i in range(9):\n    with open('x', 'r+b') as h:\n        h.write(np.full(4, i, np.float32).tobytes())\n    out.append(f(jnp.asarray(live)))\n",
    "two memmaps": "a = np.memmap('x', dtype=np.float32, mode='w+', shape=(4,))\nb = np.memmap('x', dtype=np.float32, mode='r', shape=(4,))\nout = []\nfor i in range(9):\n    a[:] = i\n    out.append(f(jnp.asarray(b)))\n",
    "shared memory": 'from multiprocessing import shared_memory\nshm = shared_memory.SharedMemory(create=True, size=32)\na = np.ndarray((4,), np.float64, buffer=shm.buf)\nb = np.ndarray((4,), np.float64, buffer=shm.buf)\nout = []\nfor i in range(9):\n    a[:] = i\n    out.append(f(b))\n',
    "mmap": 'import mmap\nm = mmap.mmap(-1, 32)\nview = np.frombuffer(m, np.float64)\nout = []\nfor i in range(9):\n    m.seek(0)\n    m.write(np.full(4, i).tobytes())\n    out.append(f(view))\n',
    "readinto a view": "raw = bytearray(32)\nview = memoryview(raw)\nout = []\nwith open('x', 'rb') as h:\n    while h.readinto(view):\n        out.append(f(np.frombuffer(raw)))\n",
    "loader class": 'class Stream:\n    def __init__(self):\n        self.buffer = np.zeros(4)\n        self.i = 0\n    def __iter__(self):\n        return self\n    def __next__(self):\n        self.i += 1\n        if self.i > 9:\n            raise StopIteration\n        self.buffer[:] = self.i\n        return self.buffer\nout = [f(one) for one in Stream()]\n',
    "islice": 'import itertools\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nout = []\nfor one in itertools.islice(batches(), 5):\n    out.append(f(one))\n',
    "tee": 'import itertools\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\na, b = itertools.tee(batches())\nout = [f(x) + f(y) for x, y in zip(a, b)]\n',
    "executor": 'import concurrent.futures\nbuf = np.zeros(4)\ndef load(i):\n    buf[:] = i\n    return buf\nout = []\nwith concurrent.futures.ThreadPoolExecutor(1) as pool:\n    nxt = pool.submit(load, 0)\n    for i in range(1, 9):\n        x = nxt.result()\n        nxt = pool.submit(load, i)\n        out.append(f(x))\n',
    "generator in a variable": 'def batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nloader = batches()\nout = []\nfor one in loader:\n    out.append(f(one))\n',
    "prefetched in a variable": 'import collections\ndef prefetch(it, n=2):\n    waiting = collections.deque()\n    for one in it:\n        waiting.append(jax.device_put(one))\n        if len(waiting) > n:\n            yield waiting.popleft()\n    while waiting:\n        yield waiting.popleft()\n\ndef batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nloader = prefetch(batches())\nout = [f(one) for one in loader]\n',
    "next": 'def batches():\n    buf = np.zeros(4)\n    for i in range(9):\n        buf[:] = i\n        yield buf\n\nloader = batches()\nout = []\nfor _ in range(5):\n    out.append(f(next(loader)))\n',
}  # fmt: skip
NOT_REUSED = {
    "plain memmap": "data = np.memmap('x', dtype=np.float32, mode='r', shape=(40,))\nout = []\nfor i in range(9):\n    out.append(f(jnp.asarray(data[i:i+4])))\nwith open('log.txt', 'w') as h:\n    h.write(str(out))\n",
    "queue of new arrays": 'import queue, threading\nq = queue.Queue(2)\ndef fill():\n    for i in range(9):\n        buf = np.zeros(4)\n        buf[:] = i\n        q.put(buf)\nthreading.Thread(target=fill).start()\nout = []\nfor _ in range(9):\n    out.append(f(q.get()))\n',
    "queue of copies": 'import queue\nbuf = np.zeros(4)\nq = queue.Queue()\nfor i in range(9):\n    buf[:] = i\n    q.put(buf.copy())\nout = []\nfor _ in range(9):\n    out.append(f(q.get()))\n',
    "queue, waited": 'import queue\nbuf = np.zeros(4)\nq = queue.Queue()\nout = []\nfor i in range(9):\n    buf[:] = i\n    q.put(buf)\n    out.append(float(f(q.get())))\n',
    "a generator of new arrays": 'def batches():\n    for i in range(9):\n        buf = np.zeros(4)\n        buf[:] = i\n        yield buf\n\nloader = batches()\nout = [f(x) for x in loader]\n',
    "shuffled before": 'def batches(rows, rng):\n    order = np.arange(9)\n    rng.shuffle(order)\n    for i in order:\n        yield rows[i]\n\nloader = batches(np.ones((9, 4)), np.random.default_rng(0))\nout = [f(x) for x in loader]\n',
    "memmap written by a checkpoint": "data = np.memmap('x', dtype=np.float32, mode='r', shape=(40,))\nout = []\nfor i in range(9):\n    out.append(f(jnp.asarray(data[i:i+4])))\n    with open('ck.bin', 'wb') as h:\n        h.write(b'1')\n",
}  # fmt: skip


@pytest.mark.parametrize("name", REUSED)
def test_a_loader_that_fills_its_buffer_again(tmp_path: Path, name: str) -> None:
    assert "changes a NumPy buffer while JAX may still read it" in refusal(tmp_path, MODEL + REUSED[name])


@pytest.mark.parametrize("name", NOT_REUSED)
def test_a_loader_that_gives_new_arrays(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, MODEL + NOT_REUSED[name]) == ""


def test_a_list_out_of_another_one_holds_what_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\ninner = []\nouter = [inner]\nbuf = np.zeros(4)\nouter[0].append(buf)\nprint(inner, buf)\n"
    )
    program = Program({str(path): read_source(path)})
    file = program.file(str(path))
    aliases = Aliases(PossibleValues(program))
    shown = file.tree.body[-1]
    assert isinstance(shown, ast.Expr)
    assert isinstance(shown.value, ast.Call)
    inner, buf = (aliases.of(one, file) for one in shown.value.args)
    assert inner == buf == {0}
