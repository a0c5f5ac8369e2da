"""Gradients at the points where what a function is made of has a kink."""

import unittest

import numpy as np

import ebb.functional as F
from ebb import Parameter, tensor
from ebb.autodiff import GradManager


def gradient(function, *arrays):
    xs = [Parameter(a) for a in arrays]
    gm = GradManager().attach(xs)
    with gm:
        gm.backward(function(*xs))
    return [x.grad.numpy() for x in xs]


class Kinks(unittest.TestCase):
    def check(self, function, *arrays_and_want):
        *arrays, want = arrays_and_want
        got = gradient(function, *(np.array(a, np.float32) for a in arrays))
        np.testing.assert_allclose(np.array(got).reshape(np.shape(want)), want, rtol=2e-6, atol=1e-7)

    def test_logistic_functions(self):
        self.check(lambda a: F.softplus(a).sum(), [0, -0.0, 50, -50], [0.5, 0.5, 1, 0])
        self.check(lambda a: F.logsigmoid(a).sum(), [0, 50, -50], [0.5, 0, 1])
        for labels in ([0.0, 1.0], [0.25, 0.75]):
            loss = lambda a: F.loss.binary_cross_entropy(a, tensor(labels), reduction="sum")
            self.check(loss, [0, 0], [0.5 - labels[0], 0.5 - labels[1]])
        self.check(lambda a, b: F.logaddexp(a, b).sum(), [0, 3], [0, 3], [[0.5, 0.5], [0.5, 0.5]])

    def test_second_derivative_of_softplus(self):
        w = Parameter(np.zeros(1, np.float32))
        outer, inner = GradManager().attach(w), GradManager().attach(w)
        with outer:
            with inner:
                inner.backward(F.softplus(w))
            slope, w.grad = w.grad, None
            outer.backward(slope)
        self.assertEqual(w.grad.tolist(), [0.25])

    def test_angles(self):
        self.check(lambda a: F.atan(a).sum(), [0, 1, -1, 1e20, -3], [1, 0.5, 0.5, 0, 0.1])
        self.check(lambda a: F.asin(a).sum(), [0, 0.5**0.5], [1, 2**0.5])
        self.check(lambda a: F.acos(a).sum(), [0, 0.5**0.5], [-1, -(2**0.5)])
        y, x = [0, 0, 1, 1, -2, 3], [2, -2, 1, -1, 0, 0]
        square = np.square(y) + np.square(x)
        self.check(lambda a, b: F.atan2(a, b).sum(), y, x, [x / square, -np.array(y) / square])
        np.testing.assert_allclose(F.atan2(tensor(y, "float32"), tensor(x, "float32")).numpy(), np.arctan2(y, x), rtol=3e-7)
        values = np.array([0, 0.3, -0.7, 1, -1, 1.5, -40, 1e20, np.inf, -np.inf], np.float32)
        np.testing.assert_allclose(F.atan(tensor(values)).numpy(), np.arctan(values), rtol=3e-7)
        self.check(lambda a: F.asinh(a).sum(), [0, 1, -1, 1e20], [1, 0.5**0.5, 0.5**0.5, 1e-20])

    def test_powers_of_zero(self):
        for power, slopes in ((0, [0, 0, 0]), (1, [1, 1, 1]), (2, [0, 4, -4]), (3, [0, 12, 12]), (-1, [-np.inf, -0.25, -0.25])):
            self.check(lambda a: (a**power).sum(), [0, 2, -2], slopes)
        self.check(lambda a, b: (a**b).sum(), [0, 2, -2, 0, 0], [0, 0, 0, 1, 2], [[0, 0, 0, 1, 0], [0, np.log(2), np.nan, 0, 0]])
        w = Parameter(np.zeros(2, np.float32))
        outer, inner = GradManager().attach(w), GradManager().attach(w)
        for powers, wanted in (([0.0, 1.0], [0, 0]), ([2.0, 3.0], [2, 0])):
            w.grad = None
            with outer:
                with inner:
                    inner.backward((w ** tensor(powers)).sum())
                slope, w.grad = w.grad, None
                outer.backward(slope.sum())
            self.assertEqual(w.grad.tolist(), wanted)

    def mixed(self, bases, powers, base_first):
        """The slope by one operand of the slope by the other."""
        a, b = (Parameter(np.array(x, np.float32)) for x in (bases, powers))
        first, second = (a, b) if base_first else (b, a)
        outer, inner = GradManager().attach(second), GradManager().attach(first)
        with outer:
            with inner:
                inner.backward((a**b).sum())
            outer.backward(first.grad.sum())
        return second.grad.numpy()

    def test_powers_of_nearly_zero(self):
        a, b = [2, 0.5, 3, 1e-3, 2], [0, 0, 0, 0, 1.5]
        wanted = [1 / x if y == 0 else x ** (y - 1) * (1 + y * np.log(x)) for x, y in zip(a, b)]
        for base_first in (False, True):
            np.testing.assert_allclose(self.mixed(a, b, base_first), wanted, rtol=1e-6)
            self.assertEqual(self.mixed([0, 0], [0, 2], base_first).tolist(), [0, 0])
        self.check(lambda a, b: (a**b).sum(), [0], [-1], [[-np.inf], [-np.inf]])
        for dtype, tiny in (("float32", 1e-40), ("float16", 1e-6), ("float16", 2e-5), ("bfloat16", 1e-39)):
            base, power = (Parameter(tensor(x, dtype=dtype)) for x in ([tiny, 0], [0, 0]))
            gm = GradManager().attach([base, power])
            with gm:
                gm.backward((base**power).sum())
            self.assertEqual(base.grad.tolist(), [0, 0])

    def test_remainders_have_the_sign_of_the_divisor(self):
        a, b = np.array([5, -5, 5, -5, 6, -6, 0]), np.array([3, 3, -3, -3, 3, 3, -3])
        for dtype in ("float32", "int32"):
            x, y = tensor(a, dtype=dtype), tensor(b, dtype=dtype)
            for got, wanted in ((F.mod(x, y), np.mod(a, b)), (x % 3, np.mod(a, 3)), (5 % y, np.mod(5, b)), (x // y, a // b), (F.floor_div(x, y), a // b)):
                self.assertEqual((got.dtype, got.tolist()), (np.dtype(dtype), wanted.tolist()))
        self.check(lambda x, y: F.mod(x, y).sum(), [5, -5, 5], [3, 3, -3], [[1, 1, 1], [-1, 2, 2]])

    def test_kinks(self):
        self.check(lambda a: F.leaky_relu(a, 0.3).sum(), [0, 1, -1], [0.3, 1, 0.3])
        self.check(lambda a: F.nn.prelu(a, tensor([0.3])).sum(), [0, 1, -1], [0.3, 1, 0.3])
        self.check(lambda a: F.clip(a, 0.0, 1.0).sum(), [0, 1, 0.5, -1, 2], [1, 1, 1, 0, 0])
        self.check(lambda a: F.relu6(a).sum(), [0, 6, 3, -1, 7], [0, 0, 1, 0, 0])


if __name__ == "__main__":
    unittest.main()
