"""Ops of one element at a time, and numbers."""

from ._table import node_dtype, rule
from ._text import Refused, Value, broadcast

# ---- two operands ----


def promoted(b, x, y):
    """Both as Values of one dtype, as PyTorch promotes: numbers follow tensors, integers follow reals, no axes follow axes."""
    order = ("bool", "i32", "f16", "bf16", "f32", "f64")
    if not isinstance(x, Value) and not isinstance(y, Value):
        raise Refused("no operand is a tensor")
    tensors = [v for v in (x, y) if isinstance(v, Value)]
    most = max(tensors, key=lambda v: (v.real, bool(v.shape), order.index(v.dtype)))
    dtype = most.dtype
    if not most.real and any(isinstance(v, float) for v in (x, y)):
        dtype = "f32"
    elif dtype == "bool" and any(isinstance(v, int) and not isinstance(v, bool) for v in (x, y)):
        dtype = "i32"
    return [b.cast(v, dtype) if isinstance(v, Value) else b.fill((), v, dtype) for v in (x, y)]


def linear_in(b, x, times, plus):
    """times * x + plus of a real x; integers by ops on integers."""
    if x.real:
        return b.rescale(x, times, plus)
    if isinstance(times, float) or isinstance(plus, float):
        return b.rescale(b.real(x), times, plus)
    x = b.cast(x, "i32")
    if times != 1:
        x = b.binary("mul", x, b.fill((), times, "i32"))
    return x if plus == 0 else b.binary("add", x, b.fill((), plus, "i32"))


@rule("add.Tensor", "add.Scalar")
def add(b, self, other, alpha=1):
    if not isinstance(other, Value):
        return linear_in(b, self, 1, alpha * other)
    x, y = promoted(b, self, linear_in(b, other, alpha, 0) if alpha != 1 else other)
    if x.dtype == "bool":
        return b.binary("logical_or", x, y)
    return b.binary("add", x, y)


@rule("sub.Tensor", "sub.Scalar")
def sub(b, self, other, alpha=1):
    if not isinstance(other, Value):
        return linear_in(b, self, 1, -alpha * other)
    return b.binary("sub", *promoted(b, self, linear_in(b, other, alpha, 0) if alpha != 1 else other))


@rule("rsub.Scalar", "rsub.Tensor")
def rsub(b, self, other, alpha=1):
    if not isinstance(other, Value):
        return linear_in(b, self, -alpha, other)
    return sub(b, other, self, alpha)


@rule("mul.Tensor", "mul.Scalar")
def mul(b, self, other):
    if not isinstance(other, Value):
        return linear_in(b, self, other, 0)
    x, y = promoted(b, self, other)
    return b.binary("logical_and" if x.dtype == "bool" else "mul", x, y)


@rule("div.Tensor", "div.Scalar")
def div(b, self, other):
    if not isinstance(other, Value):
        if other == 0:
            raise Refused("a division by 0")
        return b.binary("div", *promoted(b, b.real(self), float(other)))
    x, y = promoted(b, self, other)
    return b.binary("div", b.real(x), b.real(y))


@rule("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default")
def div_whole(b, self, other, rounding_mode="floor"):
    if rounding_mode != "floor":
        raise Refused(f"rounding_mode={rounding_mode}")
    return b.binary("floor_div", *promoted(b, self, other))


@rule("remainder.Tensor", "remainder.Scalar")
def remainder(b, self, other):
    return b.binary("mod", *promoted(b, self, other))


@rule("maximum.default")
def maximum(b, self, other):
    return b.binary("maximum", *promoted(b, self, other))


@rule("minimum.default")
def minimum(b, self, other):
    return b.binary("minimum", *promoted(b, self, other))


@rule("pow.Tensor_Scalar", "pow.Scalar", "pow.Tensor_Tensor")
def power(b, self, exponent):
    if isinstance(self, Value) and not isinstance(exponent, Value):
        if exponent in (1, 2, 3):
            return self if exponent == 1 else b.binary("mul", self, self if exponent == 2 else b.binary("mul", self, self))
        if exponent in (0.5, -0.5):
            root = b.op("sqrt", b.real(self))
            return root if exponent > 0 else b.binary("div", b.fill((), 1.0, root.dtype), root)
    x, y = promoted(b, self, exponent)
    return b.binary("pow", b.real(x), b.real(y))


# ---- comparisons, truth ----


def compare(op, turned=False, negated=False):
    def made(b, self, other):
        x, y = promoted(b, self, other)
        if x.dtype == "bool" and op != "equal":
            x, y = b.cast(x, "i32"), b.cast(y, "i32")
        found = b.binary(op, *((y, x) if turned else (x, y)), kind="bool")
        return b.op("logical_not", found) if negated else found

    return made


for _name, _rule in {
    "eq": compare("equal"), "ne": compare("equal", negated=True), "lt": compare("less"), "le": compare("less_equal"),
    "gt": compare("less", turned=True), "ge": compare("less_equal", turned=True),
}.items():
    rule(f"{_name}.Tensor", f"{_name}.Scalar")(_rule)


def truth(op):
    def made(b, self, other):
        x, y = b.cast(self, "bool"), b.cast(other, "bool")
        return b.binary(op, x, y)

    return made


for _name in ("and", "or", "xor"):
    rule(f"logical_{_name}.default")(truth(f"logical_{_name}"))


def bits(op):
    def made(b, self, other):
        if not isinstance(other, Value) or {self.dtype, other.dtype} != {"bool"}:
            raise Refused("bits of integers")
        return b.binary(op, self, other)

    return made


for _name in ("and", "or", "xor"):
    rule(f"bitwise_{_name}.Tensor", f"__{_name}__.Tensor")(bits(f"logical_{_name}"))


@rule("logical_not.default")
def logical_not(b, self):
    return b.op("logical_not", b.cast(self, "bool"))


@rule("bitwise_not.default")
def bitwise_not(b, self):
    if self.dtype != "bool":
        raise Refused("bits of integers")
    return b.op("logical_not", self)


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(b, condition, self, other, node):
    if not isinstance(self, Value) and not isinstance(other, Value):
        self = b.fill((), self, node_dtype(node))
    return chosen(b, b.cast(condition, "bool"), *promoted(b, self, other))


def chosen(b, condition, x, y):
    return b.op("where", condition, x, y, kind=x.dtype, result=broadcast(broadcast(condition.shape, x.shape), y.shape))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b, self, mask, value):
    value = b.cast(value, self.dtype) if isinstance(value, Value) else b.fill((), value, self.dtype)
    return b.expand(chosen(b, mask, value, self), self.shape)


# ---- one operand ----


def plain(op, of_integers=False):
    def made(b, self):
        return b.op(op, self if of_integers and self.dtype == "i32" else b.real(self))

    return made


for _name in ("exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tanh", "erf", "sigmoid", "relu", "silu", "floor", "ceil", "round"):
    rule(f"{_name}.default")(plain(_name))
for _name in ("neg", "abs", "sign"):
    rule(f"{_name}.default")(plain(_name, True))


@rule("sgn.default")
def sgn(b, self):
    return b.op("sign", self)


@rule("rsqrt.default")
def rsqrt(b, self):
    return power(b, self, -0.5)


@rule("reciprocal.default")
def reciprocal(b, self):
    return b.binary("div", b.fill((), 1.0, b.real(self).dtype), b.real(self))


@rule("square.default")
def square(b, self):
    return b.binary("mul", self, self)


@rule("gelu.default")
def gelu(b, self, approximate="none"):
    return b.op("gelu" if approximate == "tanh" else "gelu_erf", self)


@rule("clamp.default", "clamp_min.default", "clamp_max.default")
def clamp(b, self, min=None, max=None):  # noqa: A002: the schema's names
    low, high = min, max
    if self.real and low is not None and high is not None:
        return b.op("clip", self, min=float(low), max=float(high))
    x = self if low is None else b.binary("maximum", *promoted(b, self, low))
    return x if high is None else b.binary("minimum", *promoted(b, x, high))


@rule("hardtanh.default")
def hardtanh(b, self, min_val=-1.0, max_val=1.0):
    return clamp(b, self, min_val, max_val)


@rule("relu6.default")
def relu6(b, self):
    return clamp(b, self, 0.0, 6.0)


@rule("hardsigmoid.default")
def hardsigmoid(b, self):
    return b.rescale(clamp(b, b.rescale(self, plus=3.0), 0.0, 6.0), 1 / 6)


@rule("hardswish.default")
def hardswish(b, self):
    return b.binary("mul", self, hardsigmoid(b, self))


def below_zero(b, x):
    return b.binary("minimum", x, b.fill((), 0.0, x.dtype))


def log_rest(b, x):
    """log(1 + e^-|x|). At 0, minimum's slope is that of its first operand: with relu's, 0, the sum's is 1/2."""
    return b.op("log1p", b.op("exp", b.binary("minimum", x, b.op("neg", x))))


@rule("leaky_relu.default")
def leaky_relu(b, self, negative_slope=0.01):
    return b.binary("add", b.op("relu", self), b.rescale(below_zero(b, self), negative_slope))


@rule("elu.default")
def elu(b, self, alpha=1, scale=1, input_scale=1):
    below = b.rescale(b.op("expm1", b.rescale(below_zero(b, self), input_scale)), alpha)
    return b.rescale(b.binary("add", b.op("relu", self), below), scale)


@rule("softplus.default")
def softplus(b, self, beta=1, threshold=20):
    """max(x, 0) + log(1 + e^-|x|), which is x to within rounding beyond 20; beyond a lower threshold it is made so."""
    x = b.rescale(self, beta)
    found = b.rescale(b.binary("add", b.op("relu", x), log_rest(b, x)), 1 / beta)
    if threshold >= 20:
        return found
    return chosen(b, b.binary("less", b.fill((), threshold, x.dtype), x, kind="bool"), self, found)


@rule("mish.default")
def mish(b, self):
    return b.binary("mul", self, b.op("tanh", softplus(b, self)))


@rule("glu.default")
def glu(b, self, dim=-1):
    dim %= len(self.shape)
    half = self.shape[dim] // 2
    return b.binary("mul", b.slice(self, dim, 0, half), b.op("sigmoid", b.slice(self, dim, half, half)))
