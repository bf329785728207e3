"""Which loops of a host function are proposed as one program of all steps, and that it computes and keeps the same."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path

from jaxlint.codemods import Workspace
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.loop_steps import from_host_loops, is_inside
from jaxlint_runtime.rewrites.regions import from_regions

SAMPLER = """
import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.eye(5)


def sample(key, logits, steps):
    tokens, path, total, text = [], [], 0.0, ""
    for i in range(steps):
        key, sub = jax.random.split(key)
        token = int(jax.random.categorical(sub, logits))
        total += logits.max().item() / (i + 1)
        logits = jnp.tanh(logits + TABLE[token] * i)
        tokens.append(token)
        path.append(np.asarray(logits))
        text += f"{token}{float(logits[0]):.3f} "
    return key, logits, tokens, path, total, text


for n in (0, 3):
    key, logits, tokens, path, total, text = sample(jax.random.key(1), jnp.arange(5.0), n)
    kinds = [type(one).__name__ for one in (key, logits, tokens, path, total, text, *tokens, *path)]
    print(n, logits, tokens, path, f"{total:.4f}", text, kinds, logits.dtype, jax.random.key_data(key))
"""


def printed(text: str) -> str:
    """What a program prints."""
    found = io.StringIO()
    with contextlib.redirect_stdout(found):
        exec(compile(text, "sampler.py", "exec"), {"__name__": "__main__"})
    return found.getvalue()


def test_all_steps_keep_what_each_kept(tmp_path: Path) -> None:
    path = tmp_path / "sampler.py"
    line = next(node.lineno for node in ast.parse(SAMPLER).body if getattr(node, "name", "") == "sample")
    source = SourceFile(path, str(path), SAMPLER, "utf-8", False, "")
    steps = {"name": "steps", "type": "int", "value": "3"}
    entry = {
        "path": str(path),
        "function": "sample",
        "line": line,
        "calls": 2,
        "seconds": 1.0,
        "arguments": [steps],
    }
    (rewrite,) = from_host_loops([entry], {str(path): source})
    assert rewrite.name == "loop-to-steps:steps static"
    assert rewrite.summary == "Compile all steps of the loop at line 11 of sample as one"
    workspace = Workspace({str(path): source}, strict=True)
    (plan,) = [workspace.plan(fix) for fix in rewrite.fixes]
    assert not isinstance(plan, str), plan
    edited = workspace.edited([plan])[str(path)].text
    assert "jax.lax.scan" in edited
    assert printed(edited) == printed(SAMPLER)
    (region,) = from_regions([entry], {str(path): source})
    assert is_inside(region, rewrite)
    assert not is_inside(rewrite, region)
