"""einsum: sums of products by names of axes."""

import math

from .. import _core, _shape
from .._tensor import as_tensor
from .math import matmul, sum
from .tensor import arange

__all__ = ["einsum"]

_take = _core.op("take")


def _parsed(equation, operands):
    """Names of each operand's axes, and of the result's; "..." stands for the names 0, 1, ..., from the last axis."""
    equation = equation.replace(" ", "")
    given, arrow, result = equation.partition("->")
    terms = given.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum: {equation!r} names {len(terms)} operands, and {len(operands)} were given")
    names, dots = [], 0
    for term, x in zip(terms, operands):
        before, has_dots, after = term.partition("...")
        n = x.ndim - len(before) - len(after)
        if n < 0 or (n and not has_dots) or not (before + after).isalpha() and before + after:
            raise ValueError(f"einsum: {term!r} of {equation!r} does not name the axes of shape {x.shape}")
        names.append([*before, *range(n - 1, -1, -1), *after])
        dots = max(dots, n)
    wide = list(range(dots - 1, -1, -1))
    if arrow:
        before, has_dots, after = result.partition("...")
        out = [*before, *(wide if has_dots else []), *after]
    else:
        letters = [n for term in names for n in term if isinstance(n, str)]
        out = wide + sorted(n for n in set(letters) if letters.count(n) == 1)
    known = {n for term in names for n in term}
    if len(set(out)) != len(out) or not known.issuperset(out):
        raise ValueError(f"einsum: the result of {equation!r} names axes twice, or some that no operand has")
    return names, out


def _diagonal(x, names):
    """Axes of one name as one axis."""
    for name in set(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            n = x.shape[i]
            if x.shape[j] != n:
                raise ValueError(f"einsum: axes named {name!r} have {n} and {x.shape[j]} places")
            others = [a for a in range(x.ndim) if a not in (i, j)]
            x = _shape.transpose(x, [i, j, *others])
            rows = arange(n, dtype="int32") * (n + 1)
            x = _take(_shape.reshape(x, (n * n, *x.shape[2:])), rows, axis=0)
            names = [name] + [names[a] for a in others]
    return x, names


def _without(x, names, needed):
    gone = [a for a, n in enumerate(names) if n not in needed]
    return (sum(x, gone) if gone else x), [n for n in names if n in needed]


def _ordered(x, names, order):
    return _shape.transpose(x, [names.index(n) for n in order])


def _product(a, a_names, b, b_names, needed):
    """Both as batches of matrices; what is not needed is summed over."""
    both = [n for n in a_names if n in b_names]
    kept, summed = [n for n in both if n in needed], [n for n in both if n not in needed]
    left, right = [n for n in a_names if n not in both], [n for n in b_names if n not in both]
    size = dict(zip(b_names, b.shape))
    for name, n in zip(a_names, a.shape):
        if name in size and n != size[name] and 1 not in (n, size[name]):
            raise ValueError(f"einsum: axes named {name!r} have {n} and {size[name]} places")
        size[name] = max(n, size.get(name, 1))

    def matrix(x, names, rows, columns):
        x = _ordered(x, names, kept + rows + columns)
        x = _shape.broadcast_to(x, [size[n] for n in kept + rows + columns])
        return _shape.reshape(x, [math.prod(size[n] for n in part) for part in (kept, rows, columns)])

    y = matmul(matrix(a, a_names, left, summed), matrix(b, b_names, summed, right))
    names = kept + left + right
    return _shape.reshape(y, [size[n] for n in names]), names


def einsum(equation, *operands):
    """For "ij,jk->ik" the product of two matrices, and so on: operands are multiplied from left to right."""
    operands = [as_tensor(x) for x in operands]
    names, out = _parsed(equation, operands)
    terms = [_diagonal(x, n) for x, n in zip(operands, names)]
    x, own = terms[0]
    for i, (y, other) in enumerate(terms[1:], 1):
        later = {n for _, t in terms[i + 1 :] for n in t}.union(out)
        x, own = _without(x, own, later.union(other))
        y, other = _without(y, other, later.union(own))
        x, own = _product(x, own, y, other, later)
    x, own = _without(x, own, out)
    return _shape.another(operands[0], _ordered(x, own, out))
