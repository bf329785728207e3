"""Shapes of linear algebra and of Fourier transforms."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import Applied, MisfitError, Result, Shape, shape_text, shapes
from jaxlint.staging.values.sizes import Size, add, differ, divide, symbol, total, written


def _square(applied: Applied, shape: Shape) -> Shape:
    if len(shape) < 2:
        applied.unclear()
    if differ(shape[-1], shape[-2]):
        raise MisfitError(
            f"the matrix must be square, but its shape is {shape_text(shape)}", (applied.args[0], shape)
        )
    return shape


@shapes(
    """numpy.linalg.inv numpy.linalg.cholesky numpy.linalg.matrix_power scipy.linalg.inv scipy.linalg.cholesky
    scipy.linalg.expm scipy.linalg.sqrtm scipy.linalg.funm lax.linalg.cholesky"""
)
def square(applied: Applied) -> Result:
    return _square(applied, applied.shape(0, "a", "A"))


@shapes("numpy.linalg.det scipy.linalg.det")
def det(applied: Applied) -> Result:
    return _square(applied, applied.shape(0, "a"))[:-2]


@shapes("numpy.linalg.slogdet")
def slogdet(applied: Applied) -> Result:
    found = _square(applied, applied.shape(0, "a"))[:-2]
    return [found, found]


@shapes("numpy.linalg.eigh numpy.linalg.eig scipy.linalg.eigh")
def eigh(applied: Applied) -> Result:
    applied.only("UPLO", "symmetrize_input", "lower")
    shape = _square(applied, applied.shape(0, "a"))
    return [shape[:-1], shape]


@shapes("numpy.linalg.eigvalsh numpy.linalg.eigvals")
def eigvals(applied: Applied) -> Result:
    return _square(applied, applied.shape(0, "a"))[:-1]


def _smaller(one: Size, two: Size) -> Size:
    if one == two:
        return one
    return min(one, two) if isinstance(one, int) and isinstance(two, int) else symbol("?")


@shapes("numpy.linalg.svd scipy.linalg.svd")
def svd(applied: Applied) -> Result:
    if not {"hermitian", "subset_by_index"}.isdisjoint(applied.kwargs) or len(applied.args) > 2:
        applied.unclear()
    shape = applied.shape(0, "a")
    if len(shape) < 2:
        applied.unclear()
    rows, columns = shape[-2:]
    least = _smaller(rows, columns)
    full = applied.flag(1, "full_matrices", otherwise=True)
    if not applied.flag(2, "compute_uv", otherwise=True):
        return (*shape[:-2], least)
    left, right = (rows, columns) if full else (least, least)
    return [(*shape[:-2], rows, left), (*shape[:-2], least), (*shape[:-2], right, columns)]


@shapes("numpy.linalg.qr scipy.linalg.qr")
def qr(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    mode = applied.text(1, "mode") if applied.given(1, "mode") is not None else ""
    if len(shape) < 2 or applied.name.startswith("scipy") or mode not in ("", "reduced"):
        applied.unclear()
    rows, columns = shape[-2:]
    least = _smaller(rows, columns)
    return [(*shape[:-2], rows, least), (*shape[:-2], least, columns)]


@shapes("numpy.linalg.pinv")
def pinv(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else applied.unclear()


@shapes("numpy.linalg.solve scipy.linalg.solve scipy.linalg.solve_triangular")
def solve(applied: Applied) -> Result:
    matrix, right = applied.shape(0, "a"), applied.shape(1, "b")
    _square(applied, matrix)
    if len(matrix) != 2 or len(right) not in (1, 2):
        applied.unclear()
    if differ(matrix[-1], right[0]):
        raise MisfitError(
            f"shapes {shape_text(matrix)} and {shape_text(right)} do not match: the right side needs {written(matrix[-1])} rows",
            (applied.args[0], matrix),
        )
    return right


@shapes("scipy.linalg.cho_solve")
def cho_solve(applied: Applied) -> Result:
    return applied.shape(1, "b")


@shapes("numpy.linalg.norm numpy.linalg.vector_norm optax.safe_norm")
def norm(applied: Applied) -> Result:
    position = 3 if applied.name.startswith("optax") else 99 if applied.name.endswith("vector_norm") else 2
    applied.only("ord", "axis", "keepdims")
    shape = applied.shape(0, "x")
    keeps = applied.flag(position + 1, "keepdims")
    if applied.given(position, "axis") is None:
        return (1,) * len(shape) if keeps else ()
    axes = applied.axes(len(shape), position, "axis")
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes)


@shapes("numpy.linalg.matrix_rank")
def matrix_rank(applied: Applied) -> Result:
    return applied.shape(0, "M")[:-2]


@shapes("numpy.linalg.matrix_norm")
def matrix_norm(applied: Applied) -> Shape:
    shape = applied.shape(0, "x")
    if len(shape) < 2:
        applied.unclear()
    return (*shape[:-2], 1, 1) if applied.flag(99, "keepdims") else shape[:-2]


@shapes("scipy.linalg.block_diag")
def block_diag(applied: Applied) -> Result:
    parts = [applied.shape_of(arg) for arg in applied.args]
    if any(len(part) != 2 for part in parts):
        applied.unclear()
    return (total(part[0] for part in parts), total(part[1] for part in parts))


@shapes("numpy.cov numpy.corrcoef")
def cov(applied: Applied) -> Result:
    applied.only("rowvar", "bias", "ddof")
    shape = applied.shape(0, "m", "x")
    if len(applied.args) > 1 or len(shape) != 2:
        applied.unclear()
    size = shape[0] if applied.flag(99, "rowvar", otherwise=True) else shape[1]
    return applied.unclear() if size == 1 or not isinstance(size, int) else (size, size)


# -- Fourier


@shapes("numpy.fft.fft numpy.fft.ifft numpy.fft.rfft numpy.fft.irfft numpy.fft.hfft numpy.fft.ihfft")
def fft(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    axis = applied.axis(len(shape), 2, "axis", otherwise=-1)
    how = applied.name.rpartition(".")[2]
    asked = applied.given(1, "n") is not None
    size = applied.size(1, "n") if asked else shape[axis]
    return (*shape[:axis], _transformed(size, how, asked), *shape[axis + 1 :])


def _transformed(size: Size, how: str, asked: bool) -> Size:
    if how in ("rfft", "ihfft", "rfftn", "rfft2"):
        half = divide(size, 2)
        return symbol("?") if half is None else add(half, 1)
    if how in ("irfft", "hfft", "irfftn", "irfft2") and not asked:
        return 2 * (size - 1) if isinstance(size, int) else symbol("?")
    return size


@shapes(
    """numpy.fft.fft2 numpy.fft.ifft2 numpy.fft.fftn numpy.fft.ifftn numpy.fft.rfftn numpy.fft.irfftn numpy.fft.rfft2
    numpy.fft.irfft2"""
)
def fftn(applied: Applied) -> Result:
    if applied.given(1, "s") is not None or applied.given(2, "axes") is not None:
        applied.unclear()
    shape, how = applied.shape(0, "a"), applied.name.rpartition(".")[2]
    return (*shape[:-1], _transformed(shape[-1], how, False)) if shape else applied.unclear()
