"""The part of an array that one process holds, on the host, if the array spans several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

_Place = tuple[tuple[int, int], ...]  # start and stop along each axis


@dataclass(frozen=True, slots=True, eq=False)
class LocalShards:
    """The shards of one array on the devices of this process: `parts` by device; `places` has the position of
    each in the array.

    `key_impl`: for typed random keys, whose parts are their integers.
    """

    shape: tuple[int, ...]
    dtype: Any
    sharding: Any
    devices: tuple[Any, ...]
    places: tuple[_Place, ...]
    parts: tuple[np.ndarray, ...]
    key_impl: Any = None

    @classmethod
    def of(cls, array: jax.Array) -> LocalShards:
        """Copies the shards that this process holds."""
        impl = jax.random.key_impl(array) if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key) else None
        shards = array.addressable_shards
        return cls(
            array.shape,
            array.dtype,
            array.sharding,
            tuple(shard.device for shard in shards),
            tuple(_place(shard.index, array.shape) for shard in shards),
            tuple(
                np.array(shard.data if impl is None else jax.random.key_data(shard.data), copy=True)
                for shard in shards
            ),
            impl,
        )

    @property
    def nbytes(self) -> int:
        """The bytes of the parts."""
        return sum(part.nbytes for part in self.parts)

    def put(self) -> jax.Array:
        """The whole array on the devices. This process fills its own part. Shares no memory with the host."""
        arrays = []
        for part, device in zip(self.parts, self.devices, strict=True):
            put = jax.device_put(part, device, may_alias=False)
            arrays.append(put if self.key_impl is None else jax.random.wrap_key_data(put, impl=self.key_impl))
        return jax.make_array_from_single_device_arrays(self.shape, self.sharding, arrays)

    def distinct(self) -> Iterator[tuple[_Place, np.ndarray]]:
        """Each part once, in the order of positions: several devices may hold the same one."""
        found = dict(zip(self.places, self.parts, strict=True))
        yield from sorted(found.items(), key=lambda item: item[0])

    def flat(self) -> np.ndarray:
        """All values of this process, each part once."""
        parts = [part.reshape(-1) for _, part in self.distinct()]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def mapped(self, change: Callable[[np.ndarray, int], np.ndarray]) -> LocalShards:
        """The same shards with each part changed. `change` also receives a number that is the same for every copy of a part."""
        if self.key_impl is not None:
            return self
        changed = {place: change(part, _number(place)) for place, part in self.distinct()}
        return replace(self, parts=tuple(changed[place] for place in self.places))


def spans(value: Any) -> bool:
    """Whether a value is an array with shards in other processes."""
    return isinstance(value, LocalShards) or (isinstance(value, jax.Array) and not value.is_fully_addressable)


def local(value: Any) -> Any:
    """The flat values that this process holds of an array that spans several; any other value unchanged."""
    return LocalShards.of(value).flat() if isinstance(value, jax.Array) and spans(value) else value


def _place(index: Sequence[slice], shape: Sequence[int]) -> _Place:
    # a typed key has one more axis, for its integers
    ends = [one.indices(size)[:2] for one, size in zip(index, shape, strict=False)]
    return tuple((start, stop) for start, stop in ends)


def _number(place: _Place) -> int:
    """A number below 2**31 computed from the position alone."""
    number = 0
    for start, stop in place:
        number = (number * 1_000_003 + start * 8_191 + stop) % 2**31
    return number
