"""functional against NumPy."""

import math
import unittest

import numpy as np

import ebb.functional as F
from ebb import random, tensor

RNG = np.random.default_rng(7)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def same(y, want, rtol=1e-5, atol=1e-5, text=""):
    want = np.asarray(want)
    assert y.shape == want.shape, f"{text} {y.shape} {want.shape}"
    np.testing.assert_allclose(y.numpy(), want, rtol=rtol, atol=atol, err_msg=text)


class Elementwise(unittest.TestCase):
    def test_functions_of_one_operand(self):
        a = draw(3, 7)
        erf = np.vectorize(math.erf)
        for name, want in (
            ("abs", abs(a)), ("ceil", np.ceil(a)), ("floor", np.floor(a)), ("neg", -a), ("exp", np.exp(a)),
            ("expm1", np.expm1(a)), ("sin", np.sin(a)), ("cos", np.cos(a)), ("tan", np.tan(a)), ("tanh", np.tanh(a)),
            ("sinh", np.sinh(a)), ("cosh", np.cosh(a)), ("asinh", np.arcsinh(a)), ("sign", np.sign(a)),
            ("square", a * a), ("erf", erf(a)), ("relu", np.maximum(a, 0)), ("sigmoid", 1 / (1 + np.exp(-a))),
            ("silu", a / (1 + np.exp(-a))), ("gelu", a * (1 + erf(a / 2**0.5)) / 2), ("relu6", np.clip(a, 0, 6)),
            ("hsigmoid", np.clip(a + 3, 0, 6) / 6), ("hswish", a * np.clip(a + 3, 0, 6) / 6),
            ("softplus", np.log1p(np.exp(a))), ("logsigmoid", -np.log1p(np.exp(-a))),
            ("leaky_relu", np.where(a > 0, a, 0.01 * a)), ("isnan", np.isnan(a)), ("isinf", np.isinf(a)),
        ):
            same(getattr(F, name)(tensor(a)), want, 1e-4, 1e-5, name)
        b = abs(a) + 0.5
        for name, want in (
            ("log", np.log(b)), ("log1p", np.log1p(b)), ("sqrt", np.sqrt(b)), ("acosh", np.arccosh(b + 1)),
            ("atanh", np.arctanh(b / 9)),
        ):
            x = {"acosh": b + 1, "atanh": b / 9}.get(name, b)
            same(getattr(F, name)(tensor(x)), want, 1e-4, 1e-5, name)

    def test_of_integers(self):
        same(F.exp(tensor([0, 1])), np.exp([0, 1]))
        same(F.relu(tensor([-1, 2])), [0, 2])
        self.assertEqual(F.abs(tensor([-3])).dtype, np.int32)

    def test_round_goes_away_from_zero(self):
        same(F.round(tensor([0.5, 1.5, -0.5, -2.5, 0.4, -0.4])), [1, 2, -1, -3, 0, 0])

    def test_infinite_and_not_a_number(self):
        x = tensor([np.inf, -np.inf, np.nan, 1.0])
        same(F.isnan(x), [0, 0, 1, 0])
        same(F.isinf(x), [1, 1, 0, 0])

    def test_functions_of_two_operands(self):
        a, b = draw(3, 1), draw(4)
        for name, want in (
            ("add", a + b), ("sub", a - b), ("mul", a * b), ("div", a / b), ("maximum", np.maximum(a, b)),
            ("minimum", np.minimum(a, b)), ("floor_div", a // b), ("mod", a % b), ("equal", a == b), ("less", a < b),
            ("greater", a > b), ("less_equal", a <= b), ("greater_equal", a >= b), ("not_equal", a != b),
            ("logaddexp", np.logaddexp(a, b)),
        ):
            same(getattr(F, name)(tensor(a), tensor(b)), want, 1e-4, 1e-4, name)
        same(F.pow(tensor(abs(a)), tensor(b)), abs(a) ** b, 1e-4)
        same(F.maximum(0, tensor([-1, 2])), [0, 2])
        same(F.add(1, 2), 3)
        t, f = tensor([True, False]), tensor([True, True])
        same(F.logical_and(t, f), [1, 0])
        same(F.logical_or(t, f), [1, 1])
        same(F.logical_xor(t, f), [0, 1])
        same(F.logical_not(t), [0, 1])

    def test_clip(self):
        a = draw(9) * 3
        same(F.clip(tensor(a), -1, 2), np.clip(a, -1, 2))
        same(F.clip(tensor(a), lower=0.5), np.maximum(a, 0.5))
        same(F.clip(tensor(a), upper=0.5), np.minimum(a, 0.5))
        same(F.clip(tensor([1, 5, 9]), 2, 6), [2, 5, 6])
        with self.assertRaisesRegex(ValueError, "above"):
            F.clip(tensor(a), 2, 1)

    def test_where(self):
        m = np.array([True, False, True])
        same(F.where(tensor(m), tensor([1.0, 2, 3]), tensor([4.0, 5, 6])), [1, 5, 3])
        self.assertEqual(F.where(tensor(m), tensor([1, 2, 3]), 0).dtype, np.int32)
        self.assertEqual(F.where(tensor(m), 0.5, tensor([1, 2, 3])).tolist(), [0.5, 2, 0.5])
        with self.assertRaisesRegex(TypeError, "bool"):
            F.where(tensor([1]), 1.0, 2.0)


class Reductions(unittest.TestCase):
    def test_along_axes(self):
        a = draw(2, 3, 4, 5)
        for axis in (None, 0, -1, (1, 2), [0, 3], (0, 1, 2, 3)):
            for keep in (False, True):
                x, np_axis = tensor(a), tuple(axis) if isinstance(axis, list) else axis
                for name in ("sum", "prod", "mean", "max", "min", "var", "std"):
                    want = getattr(np, name)(a, axis=np_axis, keepdims=keep)
                    same(getattr(F, name)(x, axis, keep), want, 1e-4, 1e-5, f"{name} {axis} {keep}")

    def test_dtypes(self):
        self.assertEqual((F.sum(tensor([1, 2])).dtype, F.sum(tensor([1, 2])).item()), (np.int32, 3))
        self.assertEqual((F.sum(tensor([True, True])).dtype, F.sum(tensor([True, True])).item()), (np.int32, 2))
        self.assertEqual(F.mean(tensor([1, 2])).item(), 1.5)
        self.assertIs(F.max(tensor([True, False])).item(), True)

    def test_arguments(self):
        a = draw(3, 5)
        for axis in (0, 1, -1):
            same(F.argmax(tensor(a), axis), a.argmax(axis))
            same(F.argmin(tensor(a), axis, True), a.argmin(axis, keepdims=True))
        same(F.argmax(tensor(a)), a.argmax())
        self.assertEqual(F.argmin(tensor([3.0, np.nan, 1.0])).item(), 1)
        self.assertEqual(F.argmin(tensor([2, -(2**31), 5])).item(), 1)
        with self.assertRaisesRegex(ValueError, "axis 2"):
            F.sum(tensor(a), 2)
        with self.assertRaisesRegex(ValueError, "twice"):
            F.sum(tensor(a), (0, 0))

    def test_products_of_integers(self):
        y = tensor([[2, 3], [-4, 5]]).prod(axis=0)
        self.assertEqual((y.dtype, y.tolist()), (np.int32, [-8, 15]))

    def test_running_sums(self):
        for a in (draw(5), draw(3, 4), draw(2, 3, 4, 5)):
            for axis in range(-a.ndim, a.ndim):
                same(F.cumsum(tensor(a), axis), np.cumsum(a, axis), text=f"{a.shape} {axis}")
        y = F.cumsum(tensor([True, True, False]), 0)
        self.assertEqual((y.dtype, y.tolist()), (np.int32, [1, 2, 2]))
        with self.assertRaisesRegex(ValueError, "axis 1"):
            F.cumsum(tensor([1.0]), 1)

    def test_order(self):
        a = RNG.integers(0, 4, (2, 3, 4, 9)).astype(np.float32)  # with equal ones
        for descending in (False, True):
            want = np.argsort(-a if descending else a, kind="stable")
            y, where = F.sort(tensor(a), descending)
            same(where, want)
            same(y, np.take_along_axis(a, want, -1))
            same(F.argsort(tensor(a), descending), want)
            y, where = F.topk(tensor(a), 3, descending)
            same(where, want[..., :3])
            same(y, np.take_along_axis(a, want, -1)[..., :3])
            same(F.topk(tensor(a), 3, descending, kth_only=True), y.numpy()[..., 2])
        for wrong in (0, 10):
            with self.assertRaisesRegex(ValueError, f"k {wrong} of 9"):
                F.topk(tensor(a), wrong)

    def test_norms(self):
        a = draw(6, 4)
        for ord in (None, 1, 2, 3, np.inf, -np.inf, 0):
            same(F.norm(tensor(a), ord, axis=1), np.linalg.norm(a, 2 if ord is None else ord, axis=1), 1e-4)
        same(F.normalize(tensor(a), axis=0), a / np.linalg.norm(a, axis=0, keepdims=True))
        same(F.normalize(tensor(a)), a / np.linalg.norm(a))

    def test_products(self):
        for s, t in (
            ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
            ((2, 5, 2, 3), (5, 3, 4)), ((2, 1, 2, 3), (1, 3, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
        ):
            a, b = draw(*s), draw(*t)
            same(F.matmul(tensor(a), tensor(b)), a @ b, text=f"{s} {t}")
            same(tensor(a) @ tensor(b), a @ b)
        a, b = draw(5, 3, 2), draw(5, 4, 3)
        same(F.matmul(tensor(a), tensor(b), True, True), a.transpose(0, 2, 1) @ b.transpose(0, 2, 1))
        same(F.matmul(tensor(a[0]), tensor(b[0]), True, True), a[0].T @ b[0].T)
        same(F.matmul(tensor(a[0].T.copy()), tensor(b[0]), transpose_b=True), a[0].T @ b[0].T)
        same(F.dot(tensor(a[0, :, 0]), tensor(b[0, 0])), a[0, :, 0] @ b[0, 0])


class Moved(unittest.TestCase):
    def test_against_numpy(self):
        a = draw(2, 3, 4)
        x = tensor(a)
        same(F.concat([x, x], 1), np.concatenate([a, a], 1))
        same(F.stack([x, x], -1), np.stack([a, a], -1))
        same(F.concat([tensor([True]), tensor([False])]), [True, False])
        same(F.concat([tensor([1])] * 70), [1] * 70)
        for y, want in zip(F.split(x, 2, axis=2), np.split(a, 2, axis=2)):
            same(y, want)
        for y, want in zip(F.split(x, [1, 3], axis=2), np.split(a, [1, 3], axis=2)):
            same(y, want)
        same(F.expand_dims(x, (0, -1)), a[None, ..., None])
        same(F.squeeze(tensor(a[:1, :, None]), 0), a[0][:, None])
        same(F.squeeze(tensor(a[:1, :, None])), a[0])
        same(F.flatten(x, 1), a.reshape(2, 12))
        same(F.transpose(x, (2, 0, 1)), a.transpose(2, 0, 1))
        same(F.transpose(x, ("x", 2, 0, 1)), a.transpose(2, 0, 1)[None])
        same(F.swapaxes(x, 0, -1), a.swapaxes(0, 2))
        same(F.broadcast_to(tensor(a[:, :1]), (2, 3, 4)), np.broadcast_to(a[:, :1], (2, 3, 4)))
        same(F.repeat(x, 3, 1), np.repeat(a, 3, 1))
        same(F.repeat(x, 2), np.repeat(a, 2))
        wide = np.arange(16, dtype=np.float32).reshape(2, 1, 2, 1, 1, 2, 1, 2)
        for axis in range(8):
            same(F.repeat(tensor(wide), 2, axis), np.repeat(wide, 2, axis))
        same(F.tile(x, (2, 1, 3)), np.tile(a, (2, 1, 3)))
        same(F.tile(x, (2, 1, 1, 1)), np.tile(a, (2, 1, 1, 1)))
        same(F.roll(x, 1, 1), np.roll(a, 1, 1))
        same(F.roll(x, (1, -2), (0, 2)), np.roll(a, (1, -2), (0, 2)))
        same(F.roll(x, 5), np.roll(a, 5))
        around = ((1, 2), (0, 0), (0, 3))
        same(F.pad(x, around, constant_value=1.5), np.pad(a, around, constant_values=1.5))
        for shape in ((2, -1), (4, 3, 2, 1)):
            same(F.reshape(x, shape), a.reshape(shape))

    def test_made_of_nothing(self):
        same(F.arange(5), np.arange(5.0))
        same(F.arange(1, 9, 3, dtype="int32"), [1, 4, 7])
        same(F.arange(0, 1, 0.25), [0, 0.25, 0.5, 0.75])
        same(F.linspace(0, 1, 5), np.linspace(0, 1, 5))
        same(F.eye(2, 3), np.eye(2, 3))
        same(F.full((2, 3), 7), np.full((2, 3), 7))
        same(F.full((2,), 0.5), [0.5, 0.5])
        same(F.ones((2, 2)), np.ones((2, 2)))
        same(F.zeros(3, dtype="int32"), [0, 0, 0])
        same(F.zeros(()), 0)
        same(F.full_like(tensor([True]), True), [True])
        same(F.one_hot(tensor([[0, 2]]), 3), [[[1, 0, 0], [0, 0, 1]]])
        a = draw(3, 4)
        same(F.indexing_one_hot(tensor(a), tensor([1, 0, 3])), a[np.arange(3), [1, 0, 3]])
        i = RNG.integers(0, 4, (3, 2)).astype(np.int32)
        same(F.gather(tensor(a), 1, tensor(i)), np.take_along_axis(a, i, 1))
        i = RNG.integers(0, 3, (5, 4)).astype(np.int32)
        same(F.gather(tensor(a), 0, tensor(i)), np.take_along_axis(a, i, 0))
        with self.assertRaisesRegex(ValueError, "axis 1 alone"):
            F.gather(tensor(a), 1, tensor(i))


class Draws(unittest.TestCase):
    def test_the_seed_draws_the_same_again(self):
        random.seed(5)
        first = [random.uniform(2, 3, (100,)).numpy(), random.normal(1, 0.1, (10, 10)).numpy()]
        self.assertTrue((first[0] >= 2).all() and (first[0] < 3).all() and abs(first[1].mean() - 1) < 0.05)
        self.assertFalse(np.array_equal(random.uniform(2, 3, (100,)).numpy(), first[0]))
        random.seed(5)
        np.testing.assert_array_equal(random.uniform(2, 3, (100,)).numpy(), first[0])
        np.testing.assert_array_equal(random.normal(1, 0.1, (10, 10)).numpy(), first[1])
        self.assertEqual(random.uniform().shape, ())


class Places(unittest.TestCase):
    def test_gather(self):
        for shape, axis, n in (((4, 5), 0, 7), ((4, 5), -1, 2), ((2, 3, 4, 5), 2, 6), ((2, 3, 4, 5), 1, 3), ((6,), 0, 3)):
            a, size = draw(*shape), list(shape)
            size[axis] = n
            i = RNG.integers(-shape[axis], shape[axis], size)
            want = np.take_along_axis(a, i, axis)
            same(F.gather(tensor(a), axis, tensor(i)), want, 0, 0, f"{shape} {axis}")
            whole = (a * 10).astype(np.int32)
            same(F.gather(tensor(whole), axis, tensor(i)), np.take_along_axis(whole, i, axis), 0, 0)
        with self.assertRaisesRegex(ValueError, "axis 0 alone"):
            F.gather(tensor(draw(4, 5)), 0, tensor([[1, 2]]))
        with self.assertRaisesRegex(TypeError, "float32"):
            F.gather(tensor(draw(4)), 0, tensor([1.0]))

    def test_what_is_no_place_of_an_axis_is_refused(self):
        """Also where places of several axes are numbered as one, and another row would be read."""
        x, one = tensor(np.arange(12, dtype=np.float32).reshape(3, 4)), lambda *n: tensor(np.array(n, np.int32))
        for call in (
            lambda: F.gather(x, 1, tensor(np.array([[4], [0], [0]], np.int32))), lambda: F.gather(x, 0, one(-4, 0, 0, 0).reshape(1, 4)),
            lambda: x[one(0), one(4)], lambda: x[one(1), one(-5)], lambda: F.stack([x, x])[one(0), :, one(4)],
            lambda: F.indexing_one_hot(x, one(0, -1, 2)), lambda: F.nll_loss(x, one(0, 4, 2)),
            *(lambda how=how: F.loss.cross_entropy(x, one(-1, 0, 2), **how) for how in ({}, {"reduction": "none"}, {"label_smooth": 0.1})),
            lambda: F.loss.ctc_loss(F.ones((4, 2, 3)) / 3, one(4, 4), one(1, 5, 1, 2), one(2, 2)),
        ):
            with self.assertRaisesRegex(ValueError, r"(index|label) -?\d+ .*outside \["):
                call().numpy()
        same(F.gather(x, 1, tensor(np.array([[-1], [0], [3]], np.int32))), [[3], [4], [11]], 0, 0)
        same(x[one(-1, 0), one(0, -4)], [8, 0], 0, 0)
        with self.assertRaisesRegex(ValueError, "label_smooth is 2: a share between 0 and 1"):
            F.loss.cross_entropy(x, one(0, 1, 2), label_smooth=2)

    def test_indexing_one_hot(self):
        a, i = draw(2, 3, 4), RNG.integers(0, 3, (2, 4))
        want = np.take_along_axis(a, i[:, None], 1)
        same(F.indexing_one_hot(tensor(a), tensor(i)), want[:, 0], 0, 0)
        same(F.indexing_one_hot(tensor(a), tensor(i), 1, True), want, 0, 0)


if __name__ == "__main__":
    unittest.main()
