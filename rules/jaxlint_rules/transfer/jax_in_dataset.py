"""Datasets whose items are computed by JAX, one by one."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import returns_array
from jaxlint.finding import Severity

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


class JaxInDataset(Rule):
    """A data set creates its items one by one with JAX.

    ## What it does
    Finds array functions of JAX in `__getitem__` and `__iter__` of data sets of PyTorch, and in data sources and transformations of grain.

    ## Why is this bad?
    Each item is copied to the device, and each operation on it is a dispatch: `jnp.pad(jnp.asarray(image) / 255)` of 32 x 32 pixels
    took 110 us on a CPU, the same by NumPy 19 us. The loader copies it back to put the batch together. And with
    `num_workers` the processes that load are forked after JAX has started, which may hang.

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
    And put the whole batch to the device.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    When an item is large and costs much to compute, and the loader has no workers.

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
        if _DATASETS.isdisjoint(function.cls.external_bases()):
            return
        self.told.add(function.node)
        report(
            event.node,
            f"`{function.cls.name}` creates its items one by one with JAX; use NumPy here, and JAX on the batch",
            reason=f"`{event.name.replace('jax.numpy', 'jnp')}` dispatches to the device for each item",
        )
