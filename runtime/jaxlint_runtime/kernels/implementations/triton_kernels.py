"""The kernels of flash attention in Triton: forward, by the queries, by keys and values. Only `triton_flash` imports
this.

All arrays are contiguous: queries [B, N, T, D], keys [B, K, S, D], values [B, K, S, E]. One program of the grid has a
block of rows of one head and iterates over the blocks of the other side. `bias` is added to the scores in float32;
`bias_step` has the strides of its four axes (0 for a broadcast axis). `rows` has the maximum and the inverse sum of
each row, [B, N, 2, T].
"""

# mypy: ignore-errors

import triton
import triton.language as tl

_MASKED = tl.constexpr(-0.7 * 3.4028234663852886e38)
_PADDING = tl.constexpr(-0.9 * 3.4028234663852886e38)  # lower than any score, masked ones included


@triton.jit
def _tile(
    pointer, row, first, length: tl.constexpr, width: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr
):
    """`BLOCK` rows of array number `row`, from row `first` on, zero beyond its end."""
    rows = first + tl.arange(0, BLOCK)
    columns = tl.arange(0, WIDE)
    places = row.to(tl.int64) * (length * width) + rows[:, None] * width + columns[None, :]
    return tl.load(pointer + places, mask=(rows[:, None] < length) & (columns[None, :] < width), other=0.0)


@triton.jit
def _put(
    pointer,
    values,
    row,
    first,
    length: tl.constexpr,
    width: tl.constexpr,
    BLOCK: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Stores the values of a tile: the inverse of `_tile`."""
    rows = first + tl.arange(0, BLOCK)
    columns = tl.arange(0, WIDE)
    places = row.to(tl.int64) * (length * width) + rows[:, None] * width + columns[None, :]
    inside = (rows[:, None] < length) & (columns[None, :] < width)
    tl.store(pointer + places, values.to(pointer.dtype.element_ty), mask=inside)


@triton.jit
def _own_head(row, heads: tl.constexpr, groups: tl.constexpr):
    """The head of keys, counted over the batch, that a head of queries reads."""
    return row // heads * (heads // groups) + row % heads // groups


@triton.jit
def _scores(
    queries, keys, bias, row, first_row, first_column, heads: tl.constexpr, time: tl.constexpr, positions: tl.constexpr,
    scale: tl.constexpr, cap: tl.constexpr, causal: tl.constexpr, bias_step: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """A block of scores in float32, and the derivative of the cap (1 without a cap)."""
    scores = tl.dot(queries, tl.trans(keys), input_precision="tf32x3") * scale
    slope = tl.full([BQ, BK], 1.0, tl.float32)
    if cap is not None:
        capped = 2.0 / (1.0 + tl.exp(-2.0 * scores / cap)) - 1.0  # tanh
        scores = cap * capped
        slope = 1.0 - capped * capped
    rows = first_row + tl.arange(0, BQ)
    columns = first_column + tl.arange(0, BK)
    inside = (rows[:, None] < time) & (columns[None, :] < positions)
    if bias_step is not None:
        start = (row // heads).to(tl.int64) * bias_step[0] + (row % heads).to(tl.int64) * bias_step[1]
        places = start + rows[:, None].to(tl.int64) * bias_step[2] + columns[None, :] * bias_step[3]
        scores += tl.load(bias + places, mask=inside, other=0.0)
    if causal:
        scores = tl.where(rows[:, None] >= columns[None, :], scores, _MASKED)
    return tl.where(columns[None, :] < positions, scores, _PADDING), slope


@triton.jit
def forward(
    queries, keys, values, bias, result, rows,
    heads: tl.constexpr, groups: tl.constexpr, time: tl.constexpr, positions: tl.constexpr, depth: tl.constexpr,
    width: tl.constexpr, scale: tl.constexpr, cap: tl.constexpr, causal: tl.constexpr, masked: tl.constexpr,
    bias_step: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """The result and `rows`, for a block of queries."""
    first, row = tl.program_id(0) * BQ, tl.program_id(1)
    own = _own_head(row, heads, groups)
    ours = _tile(queries, row, first, time, depth, BQ, BD)
    top = tl.full([BQ], _PADDING, tl.float32)
    total = tl.zeros([BQ], tl.float32)
    summed = tl.zeros([BQ, BE], tl.float32)
    end = positions
    if causal and not masked:  # blocks that a causal mask hides completely
        end = tl.minimum(positions, first + BQ)
    for start in range(0, end, BK):
        theirs = _tile(keys, own, start, positions, depth, BK, BD)
        scores, _ = _scores(
            ours,
            theirs,
            bias,
            row,
            first,
            start,
            heads,
            time,
            positions,
            scale,
            cap,
            causal,
            bias_step,
            BQ,
            BK,
        )
        new = tl.maximum(top, tl.max(scores, 1))
        raised = tl.exp(scores - new[:, None])
        shrink = tl.exp(top - new)
        total = total * shrink + tl.sum(raised, 1)
        top = new
        block = _tile(values, own, start, positions, width, BK, BE)
        summed = summed * shrink[:, None] + tl.dot(raised.to(block.dtype), block, input_precision="tf32x3")
    _put(result, summed / total[:, None], row, first, time, width, BQ, BE)
    numbers = first + tl.arange(0, BQ)
    place = rows + row.to(tl.int64) * (2 * time) + numbers
    tl.store(place, top, mask=numbers < time)
    tl.store(place + time, 1.0 / total, mask=numbers < time)


@triton.jit
def _gradient_of_scores(
    ours, theirs, block, cotangents, bias, rows, delta, row, first, start,
    heads: tl.constexpr, time: tl.constexpr, positions: tl.constexpr, scale: tl.constexpr, cap: tl.constexpr,
    causal: tl.constexpr, bias_step: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Weights of a block and the gradient of its products, both in float32; zero for rows that are padding."""
    numbers = first + tl.arange(0, BQ)
    real = numbers < time
    place = rows + row.to(tl.int64) * (2 * time) + numbers
    top = tl.load(place, mask=real, other=0.0)
    inverse = tl.load(place + time, mask=real, other=0.0)
    sums = tl.load(delta + row.to(tl.int64) * time + numbers, mask=real, other=0.0)
    scores, slope = _scores(
        ours, theirs, bias, row, first, start, heads, time, positions, scale, cap, causal, bias_step, BQ, BK
    )
    weights = tl.where(real[:, None], tl.exp(scores - top[:, None]) * inverse[:, None], 0.0)
    change = weights * (tl.dot(cotangents, tl.trans(block), input_precision="tf32x3") - sums[:, None]) * slope
    # A masked score is a constant: no gradient flows through it, not even in a fully masked row.
    return weights, tl.where(scores > _MASKED / 2, change * scale, 0.0)


@triton.jit
def backward_queries(
    queries, keys, values, bias, cotangent, rows, delta, result,
    heads: tl.constexpr, groups: tl.constexpr, time: tl.constexpr, positions: tl.constexpr, depth: tl.constexpr,
    width: tl.constexpr, scale: tl.constexpr, cap: tl.constexpr, causal: tl.constexpr, masked: tl.constexpr,
    bias_step: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """The gradient for a block of queries."""
    first, row = tl.program_id(0) * BQ, tl.program_id(1)
    own = _own_head(row, heads, groups)
    ours = _tile(queries, row, first, time, depth, BQ, BD)
    cotangents = _tile(cotangent, row, first, time, width, BQ, BE)
    summed = tl.zeros([BQ, BD], tl.float32)
    end = positions
    if causal and not masked:
        end = tl.minimum(positions, first + BQ)
    for start in range(0, end, BK):
        theirs = _tile(keys, own, start, positions, depth, BK, BD)
        block = _tile(values, own, start, positions, width, BK, BE)
        _, change = _gradient_of_scores(
            ours, theirs, block, cotangents, bias, rows, delta, row, first, start,
            heads, time, positions, scale, cap, causal, bias_step, BQ, BK,
        )  # fmt: skip
        summed += tl.dot(change.to(theirs.dtype), theirs, input_precision="tf32x3")
    _put(result, summed, row, first, time, depth, BQ, BD)


@triton.jit
def backward_keys(
    queries, keys, values, bias, cotangent, rows, delta, by_keys, by_values,
    heads: tl.constexpr, groups: tl.constexpr, time: tl.constexpr, positions: tl.constexpr, depth: tl.constexpr,
    width: tl.constexpr, scale: tl.constexpr, cap: tl.constexpr, causal: tl.constexpr, masked: tl.constexpr,
    bias_step: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr, BE: tl.constexpr,
):  # fmt: skip
    """The gradients for a block of keys and of values, over all query heads that share them."""
    start, own = tl.program_id(0) * BK, tl.program_id(1)
    theirs = _tile(keys, own, start, positions, depth, BK, BD)
    block = _tile(values, own, start, positions, width, BK, BE)
    key_sum = tl.zeros([BK, BD], tl.float32)
    value_sum = tl.zeros([BK, BE], tl.float32)
    begin = 0
    if causal and not masked:
        begin = start // BQ * BQ
    for member in range(groups):
        row = own // (heads // groups) * heads + own % (heads // groups) * groups + member
        for first in range(begin, time, BQ):
            ours = _tile(queries, row, first, time, depth, BQ, BD)
            cotangents = _tile(cotangent, row, first, time, width, BQ, BE)
            weights, change = _gradient_of_scores(
                ours, theirs, block, cotangents, bias, rows, delta, row, first, start,
                heads, time, positions, scale, cap, causal, bias_step, BQ, BK,
            )  # fmt: skip
            key_sum += tl.dot(tl.trans(change.to(ours.dtype)), ours, input_precision="tf32x3")
            value_sum += tl.dot(tl.trans(weights.to(cotangents.dtype)), cotangents, input_precision="tf32x3")
    _put(by_keys, key_sum, own, start, positions, depth, BK, BD)
    _put(by_values, value_sum, own, start, positions, width, BK, BE)
