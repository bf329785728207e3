"""Datasets that compute their items one by one with JAX."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, cache, dotted, nodes_of
from jaxlint.api.tables import returns_array
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name

_DATASETS = frozenset(
    {
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "torch.utils.data.dataset.Dataset",
        "torch.utils.data.dataset.IterableDataset",
        "grain.RandomAccessDataSource",
        "grain.python.RandomAccessDataSource",
        "grain.transforms.Map",
        "grain.transforms.RandomMap",
        "grain.python.MapTransform",
        "grain.python.RandomMapTransform",
    }
)
_ITEMS = frozenset({"__getitem__", "__getitems__", "__iter__", "map", "random_map"})


@cache
def _makes_batches(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a function gets the numbers of several items, whose number it asks for: `shape=(len(indices), 3)`."""
    given = {parameter.arg for parameter in all_parameters(function)}
    return any(
        last_name(call.func) == "len" and len(call.args) == 1 and dotted(call.args[0]) in given
        for call in nodes_of(function, ast.Call)
    )


class JaxInDataset(Rule):
    """A dataset creates its items one by one with JAX.

    ## What it does
    Finds JAX array functions in `__getitem__` and `__iter__` of PyTorch datasets, and in grain data
    sources and transformations.

    ## Why is this bad?
    Each item is copied to the device, and each operation on it is a dispatch:
    `jnp.pad(jnp.asarray(image) / 255)` of 32 x 32 pixels took 110 us on a CPU, and 19 us with
    NumPy. The loader then copies the item back to assemble the batch. With `num_workers` the loader
    forks processes after JAX has started threads, which may deadlock.

    ## Example
    ```python
    def __getitem__(self, i):
        return jnp.asarray(self.images[i], jnp.float32) / 255.0
    ```

    ## Use instead
    ```python
    def __getitem__(self, i):
        return np.asarray(self.images[i], np.float32) / 255.0
    ```
    Copy the whole batch to the device afterwards.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if an item is large and expensive to compute and the loader has no workers. Items made
    many at a time, by a method that asks for `len(indices)`, are not reported.

    ## References
    - [JAX: training with a PyTorch data loader](https://docs.jax.dev/en/latest/notebooks/Neural_Network_and_Data_Loading.html)
    """

    code = "JAX506"
    name = "jax-in-dataset"
    category = "transfer"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.told: set[ast.AST] = set()

    @concerns("jax.")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        function = event.frame.function
        if function is None or function.cls is None or function.node in self.told or event.frame.stage.staged:
            return
        if function.name not in _ITEMS or event.frame.is_in_test() or not returns_array(event.name):
            return
        if _DATASETS.isdisjoint(function.cls.external_bases()) or _makes_batches(function.node):
            return
        self.told.add(function.node)
        report(
            event.node,
            f"`{function.cls.name}` creates its items one by one with JAX; use NumPy here, and JAX on the batch",
            reason=f"`{event.name.replace('jax.numpy', 'jnp')}` dispatches to the device for each item",
        )
