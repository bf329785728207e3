"""Canonical names: one name for each JAX function, whichever module it was imported from."""

from __future__ import annotations

from jaxlint.jaxapi.api_names import known_names

# Longest prefix first. A name is rewritten once, and a private name once more.
_PREFIXES: tuple[tuple[str, str], ...] = (
    ("jax._src.numpy.lax_numpy.", "jax.numpy."),
    ("jax._src.lax.control_flow.", "jax.lax."),
    ("jax._src.api.", "jax."),
    ("jax._src.core.", "jax.core."),
    ("jax._src.tree_util.", "jax.tree_util."),
    ("jax._src.random.", "jax.random."),
    ("jax._src.lax.lax.", "jax.lax."),
    ("jax._src.nn.functions.", "jax.nn."),
    ("jax._src.ad_checkpoint.", "jax.ad_checkpoint."),
    ("jax.api.", "jax."),
    ("jax.experimental.pjit.pjit", "jax.jit"),
    ("jax.experimental.shard_map.shard_map", "jax.shard_map"),
    ("jax.experimental.checkify", "jax.experimental.checkify"),
    ("jax.ad_checkpoint.checkpoint_name", "jax.ad_checkpoint.checkpoint_name"),
    ("jax.ad_checkpoint.checkpoint", "jax.checkpoint"),
    ("jax.ad_checkpoint.remat", "jax.checkpoint"),
    ("jax.new_checkpoint", "jax.checkpoint"),
    ("jax.remat", "jax.checkpoint"),
    ("jax.tree_util.tree_map_with_path", "jax.tree.map_with_path"),
    ("jax.tree_util.tree_map", "jax.tree.map"),
    ("jax.tree_map", "jax.tree.map"),
    ("jax.tree_multimap", "jax.tree.map"),
    ("jax.tree_util.tree_multimap", "jax.tree.map"),
    ("jax.tree_util.tree_leaves", "jax.tree.leaves"),
    ("jax.tree_leaves", "jax.tree.leaves"),
    ("jax.tree_util.tree_flatten", "jax.tree.flatten"),
    ("jax.tree_flatten", "jax.tree.flatten"),
    ("jax.tree_util.tree_unflatten", "jax.tree.unflatten"),
    ("jax.tree_unflatten", "jax.tree.unflatten"),
    ("jax.tree_util.tree_structure", "jax.tree.structure"),
    ("jax.tree_structure", "jax.tree.structure"),
    ("jax.tree_util.tree_flatten_with_path", "jax.tree.flatten_with_path"),
    ("jax.tree_util.tree_leaves_with_path", "jax.tree.leaves_with_path"),
    ("jax.tree_util.tree_reduce", "jax.tree.reduce"),
    ("jax.tree_util.tree_all", "jax.tree.all"),
    ("jax.tree_util.tree_transpose", "jax.tree.transpose"),
    ("jax.tree_util.Partial", "functools.partial"),
    ("jax.interpreters.pxla.", "jax.sharding."),
    ("jax.experimental.maps.Mesh", "jax.sharding.Mesh"),
    ("flax.linen.transforms.", "flax.linen."),
    ("flax.linen.module.", "flax.linen."),
    ("flax.nnx.compat.", "flax.nnx."),
    ("flax.experimental.nnx.", "flax.nnx."),
    ("flax.experimental.nnx", "flax.nnx"),
    ("flax.core.lift.", "flax.core.lift."),
    ("flax.training.train_state.TrainState", "flax.training.train_state.TrainState"),
    ("equinox.Partial", "functools.partial"),
    ("equinox._jit.", "equinox."),
    ("equinox.module.", "equinox."),
    ("haiku._src.transform.", "haiku."),
    ("haiku._src.stateful.", "haiku."),
    ("distrax._src.", "distrax."),
    ("jax.numpy.jit", "jax.jit"),
)

APPLY_FN = "flax.TrainState.apply_fn"
"""`state.apply_fn` of a train state whose model is not seen. No other library has the name."""

# `jax.nn` functions that flax re-exports, and `tanh` of `jax.numpy`.
_ACTIVATIONS = """celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax logsumexp one_hot
relu relu6 selu sigmoid silu soft_sign softmax softplus standardize swish tanh""".split()  # noqa: SIM905
HANDED_ON = {
    f"{package}.{name}": "jax.numpy.tanh" if name == "tanh" else f"jax.nn.{name}"
    for package in ("flax.linen", "flax.linen.activation", "flax.nnx", "flax.nnx.nn.activations")
    for name in _ACTIVATIONS
}

# A single cache, since both halves are looked up often.
_cache: dict[str, str] = {}


def canonical(name: str) -> str:
    """The canonical dotted name for `name`."""
    found = _cache.get(name)
    if found is None:
        found = HANDED_ON.get(name, name)
        for prefix, target in _PREFIXES:
            whole = not prefix.endswith(".")
            if name == prefix if whole else name.startswith(prefix):
                public = target + name[len(prefix) :]
                if not name.startswith("jax._src."):
                    found = public
                elif known_names.what_became_of(public) is not None:
                    found = canonical(public)  # a helper that no release made public keeps its name
                break
        _cache[name] = found
    return found


# Packages whose public classes are defined in submodules.
_INSIDE = ("flax.linen", "flax.nnx", "equinox", "haiku")


def public_class(module: str, name: str) -> str:
    """The name by which users import a library's class, if `module` is a module of that library."""
    for package in _INSIDE:
        if module == package or module.startswith(package + "."):
            return name if "test" in module else f"{package}.{name}"
    return canonical(f"{module}.{name}")


JAX_FAMILY = (
    "jax",
    "jaxlib",
    "flax",
    "optax",
    "equinox",
    "haiku",
    "chex",
    "numpyro",
    "blackjax",
    "diffrax",
    "distrax",
    "jaxopt",
    "rlax",
    "jraph",
    "brax",
    "gymnax",
    "orbax",
    "optimistix",
    "lineax",
    "objax",
    "trax",
    "t5x",
    "penzai",
    "haliax",
    "levanter",
    "jaxtyping",
)


# Names under which libraries test whether a value is a tracer.
ASKS_FOR_TRACER = frozenset({"is_abstract", "is_tracer", "is_traced", "is_jax_tracer", "_is_tracer"})
