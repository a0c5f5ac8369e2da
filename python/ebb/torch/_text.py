"""A model as text (docs/ir.md) under construction: values with shapes, and ops on them; what shapes, axes and numbers need beside an op
of Ebb's. What an op of PyTorch's becomes is in the tables (_table.py)."""

import math

MOST_AXES = 6
I32 = (-(1 << 31), (1 << 31) - 1)
EFFECTS = ("assign", "batch_norm")  # ops that change a state: they stay when nothing reads them


class Refused(ValueError):
    """Why a node has no place in a model of Ebb's."""


class Value:
    """A value of the text. `same` has the same elements in the same order, in another shape; `turned` is (value, order) of a permute;
    `part` is (value, axis, begin) of a slice."""

    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.same, self.turned, self.part = None, None, None

    @property
    def real(self):
        return self.dtype in ("f32", "f64", "f16", "bf16")

    @property
    def count(self):
        return math.prod(self.shape)

    def __repr__(self):
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


def attribute(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(str(int(v)) for v in value) + "]"
    if isinstance(value, float) and not abs(value) <= 1e300:
        raise Refused(f"the number {value}")
    return repr(value) if isinstance(value, float) else str(value)


class Text:
    """The rows. `node` is what values made now are called by, `source` what their errors point at."""

    def __init__(self, name):
        self.name, self.rows, self.taken = name, [], {"lr"}
        self.node, self.source = "v", None

    # ---- rows ----

    def fresh(self, like):
        clean = "".join(c if c.isascii() and (c.isalnum() or c in "_.-/") else "_" for c in like) or "v"
        name, n = clean, 0
        while name in self.taken:
            n += 1
            name = f"{clean}.{n}"
        self.taken.add(name)
        return name

    def declare(self, word, like, shape, dtype, words=""):
        if any(not isinstance(n, int) for n in shape):
            raise Refused(f"the shape {tuple(shape)}: sizes are fixed: export without dynamic shapes")
        if len(shape) > MOST_AXES or not all(n >= 1 for n in shape):
            raise Refused(f"the shape {tuple(shape)}: at most {MOST_AXES} axes, of sizes from 1 on")
        value = Value(self.fresh(like), shape, dtype)
        self.rows.append(([value], f"{word} {value!r}", [], self.source, words))
        return value

    def ops(self, op, operands, results, **attributes):
        """Several results: (shape, dtype) each."""
        for shape, _ in results:
            if len(shape) > MOST_AXES:
                raise Refused(f"a result of {len(shape)} axes: at most {MOST_AXES}")
        made = [Value(self.fresh(self.node), shape, dtype) for shape, dtype in results]
        words = "".join(f" {k}={attribute(v)}" for k, v in attributes.items())
        self.rows.append((made, op, list(operands), self.source, words))
        return made

    def op(self, op, *operands, result=None, kind=None, **attributes):
        """One result, of the first operand's shape and dtype unless said otherwise."""
        first = operands[0] if operands else None
        return self.ops(op, operands, [(first.shape if result is None else result, kind or first.dtype)], **attributes)[0]

    def lines(self, outputs, loss):
        """The text's lines, without what nothing reads, and the source of each."""
        needed, kept = {v.name for v in [*outputs, *([loss] if loss else [])]}, []
        for row in reversed(self.rows):
            made, op = row[:2]
            if op in EFFECTS or op.startswith("input ") or any(v.name in needed for v in made):
                kept.append(row)
                needed.update(v.name for v in row[2])
        lines, sources = ["ebb 1", f"graph {self.name}"], [None, None]
        for made, op, operands, source, words in reversed(kept):
            right = ", ".join(f"%{v.name}" for v in operands)
            lines.append(", ".join(f"%{v.name}" for v in made) + f" = {op}" + (f" {right}" if right else "") + words)
            sources.append(source)
        return lines + [f"output %{v.name}" for v in outputs] + ([f"loss %{loss.name}"] if loss else []), sources

    # ---- numbers and dtypes ----

    def fill(self, shape, number, dtype):
        if dtype in ("i32", "bool"):
            if not I32[0] <= number <= I32[1]:
                raise Refused(f"the number {number}: integers have 32 bits")
            if abs(number) < 1 << 24:
                return self.cast(self.fill(shape, float(number), "f32"), dtype)
            return self.expand(self.declare("constant", self.node, (), dtype, f" fill={float(number)!r}"), shape)
        number = float(number)
        if math.isnan(number):
            return self.op("sqrt", self.fill(shape, -1.0, dtype))
        if math.isinf(number):
            low = self.op("log", self.fill(shape, 0.0, dtype))
            return low if number < 0 else self.op("neg", low)
        return self.ops("fill", [], [(shape, dtype)], shape=tuple(shape), value=number, dtype=dtype)[0]

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        if dtype == "bool":
            return self.op("logical_not", self.op("equal", x, self.fill((), 0, x.dtype), kind="bool"))
        return self.op("cast", x, kind=dtype, to=dtype)

    def real(self, x):
        return x if x.real else self.cast(x, "f32")

    def rescale(self, x, times=1.0, plus=0.0):
        if times == 1 and plus == 0:
            return x
        return self.op("rescale", x, times=float(times), plus=float(plus))

    # ---- shapes ----

    def reshape(self, x, shape):
        """The same elements in their logical order."""
        root, shape = x.same or x, tuple(shape)
        if root.shape == shape:
            return root
        if planes(root.shape) == planes(shape):
            made = self.view(root, shape)
        else:
            inner = root if planes(root.shape) is None else self.op("flatten", root, result=(root.shape[0], math.prod(root.shape[1:])))
            made = self.view(inner, shape if planes(shape) is None else (shape[0], math.prod(shape[1:])))
            if planes(shape) is not None:
                made = self.op("from_planes", made, result=shape, size=shape[1:])
        made.same = root
        return made

    def view(self, x, shape):
        return x if x.shape == tuple(shape) else self.op("reshape", x, result=shape, shape=tuple(shape))

    def permute(self, x, order):
        source, before = x.turned or (x, tuple(range(len(x.shape))))
        order = tuple(before[d] for d in order)
        shape = tuple(source.shape[d] for d in order)
        long = [d for d in order if source.shape[d] != 1]
        if long == sorted(long):
            return self.reshape(source, shape)
        made = self.op("permute", source, result=shape, order=order)
        made.turned = (source, order)
        return made

    def slice(self, x, axis, begin, size):
        if size == x.shape[axis]:
            return x
        shape = (*x.shape[:axis], size, *x.shape[axis + 1:])
        made = self.op("slice", x, result=shape, axis=axis, begin=begin, size=size)
        made.part = (x, axis, begin)
        return made

    def concat(self, xs, axis):
        parts = [x.part for x in xs]
        if all(parts) and all(p[0] is parts[0][0] and p[1] == axis for p in parts):
            begins = [sum(x.shape[axis] for x in xs[:i]) for i in range(len(xs) + 1)]
            if [p[2] for p in parts] == begins[:-1] and begins[-1] == parts[0][0].shape[axis]:
                return parts[0][0]
        if len(xs) == 1:
            return xs[0]
        shape = (*xs[0].shape[:axis], sum(x.shape[axis] for x in xs), *xs[0].shape[axis + 1:])
        return self.op("concat", *xs, result=shape, axis=axis)

    def expand(self, x, shape):
        x = self.reshape(x, (1,) * (len(shape) - len(x.shape)) + x.shape)
        return x if x.shape == tuple(shape) else self.op("broadcast_to", x, result=shape, shape=tuple(shape))

    def reduce(self, op, x, axes, keep=False):
        axes = sorted(range(len(x.shape)) if not axes else {a % len(x.shape) for a in axes})
        if not axes:
            return x
        kept = self.op(op, x, result=[1 if d in axes else n for d, n in enumerate(x.shape)], axis=axes)
        return kept if keep else self.reshape(kept, [n for d, n in enumerate(x.shape) if d not in axes])

    def binary(self, op, a, b, kind=None):
        return self.op(op, a, b, result=broadcast(a.shape, b.shape), kind=kind)


def planes(shape):
    """Channels and places of a shape whose bytes are in another order than its elements; None: they are not. Rank 4 lies channels last."""
    if len(shape) != 4 or shape[1] == 1 or shape[2] * shape[3] == 1:
        return None
    return shape[1], shape[2] * shape[3]


def broadcast(a, b):
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        raise Refused(f"the shapes {a} and {b}")
    return tuple(y if x == 1 else x for x, y in zip(a, b))
