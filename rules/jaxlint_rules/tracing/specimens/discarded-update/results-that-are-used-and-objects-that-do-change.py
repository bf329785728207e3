# results that are used, and objects that do change

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

def f(table, names, text):
    x = jnp.zeros(8)
    x = x.at[0].set(1.0)
    total = x.at[1].add(2.0).sum()
    host = np.ones(3)
    host.sort()
    np.fill_diagonal(table, 0.0)
    seen = set()
    seen.add(1)
    graph = {"at": [set()]}
    graph["at"][0].add(3)
    rows = [3, 1]
    rows.sort()
    _ = x.at[2].set(0.0)
    jax.tree.map(lambda leaf: print(leaf + 1), table)
    host.astype(int)
    return total, x.at[3].get(), text.replace("a", "b")


class Window:
    def _replace(self, text=""):
        self.text = text

    def show(self, text):
        self._replace(text=text)


def clean(frame, graph, path):
    frame.replace(to_replace=-1, value=0, inplace=True)
    Window()._replace(text="b")
    path.replace("b")
    return graph._replace(nodes=graph.nodes + 1)
