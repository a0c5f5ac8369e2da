"""Tensors without elements, and of integers below 32 bits, as NumPy and MegEngine have them."""

import pickle
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.functional import elemwise
from ebb.jit import trace

NARROW = (np.uint8, np.int8, np.int16)


def none(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def ways(function):
    """The function, and traced twice."""
    return function, trace(function, symbolic=False), trace(function, symbolic=True)


class Without(unittest.TestCase):
    def check(self, function, want, *arrays):
        for f in ways(function):
            for _ in range(3):
                y = f(*map(tensor, arrays))
                self.assertEqual((y.shape, y.dtype), (want.shape, want.dtype), arrays)
                np.testing.assert_array_equal(y.numpy(), want)

    def test_figures_and_data(self):
        x = tensor(none(2, 0, 3))
        self.assertEqual((x.shape, x.ndim, x.size, len(x), x.dtype), ((2, 0, 3), 3, 0, 2, np.float32))
        self.assertEqual((tensor([]).shape, list(tensor([])), x.tolist()), ((0,), [], [[], []]))
        self.assertEqual(np.asarray(x).shape, (2, 0, 3))
        self.assertEqual(pickle.loads(pickle.dumps(x)).shape, (2, 0, 3))
        self.assertEqual(repr(tensor([])), "Tensor([], device=xpux:0)")
        for read in (x.item, lambda: bool(x), lambda: float(x)):
            with self.assertRaisesRegex(ValueError, "one element"):
                read()
        x.set_value([1.0, 2.0])
        self.assertEqual(x.tolist(), [1, 2])
        x.set_value([])
        self.assertEqual((x + 1).shape, (0,))

    def test_every_function_of_places(self):
        for name in elemwise.__all__:
            op = getattr(elemwise, name)
            n = op.__code__.co_argcount
            kind = np.int32 if name.endswith("shift") else np.bool_ if name.startswith("logical") and name != "logaddexp" else np.float32
            for shapes in (((0,),) * 2, ((2, 0, 3),) * 2, ((0, 5), (5,)), ((3, 1), (1, 0))):
                arrays = [none(*s, dtype=kind) for s in shapes[:n]]
                if name == "clip":
                    arrays, call = arrays[:1], lambda x: F.clip(x, 0, 1)
                elif kind == np.int32:
                    arrays, call = arrays[:1], lambda x, op=op: op(x, 1)
                else:
                    call = op
                if arrays[0].size:
                    continue
                for f in ways(call):
                    for _ in range(2):
                        self.assertEqual(f(*map(tensor, arrays)).shape, np.broadcast_shapes(*(a.shape for a in arrays)), name)
        self.check(lambda x: x + 1, none(0), none(0))
        self.check(lambda x: 1 / x, none(0), none(0, dtype=np.int32))
        self.check(lambda x: x < 1, none(0, dtype=np.bool_), none(0))
        self.check(F.where, none(0), none(0, dtype=np.bool_), none(1), none(0))

    def test_moved(self):
        for shape, to in (((100, 0, 1), (100, 0, 10)), ((10, 0), (10, 10, 0)), ((0, 0, 1, 10), (10, 0, 0, 5, 10))):
            self.check(lambda x: F.broadcast_to(x, to), none(*to), none(*shape))
        for shape, to in (((100, 0, 1), (100, 0, 10)), ((10, 0), (0,)), ((10, 0, 10), (0, 1, 2, 3)), ((3, 0), (-1, 4))):
            self.check(lambda x: x.reshape(to), none(*np.where(np.array(to) < 0, 0, to)), none(*shape))
        self.check(lambda x: x.transpose(2, 0, 1), none(3, 2, 0), none(2, 0, 3))
        self.check(lambda x: F.expand_dims(x, 1), none(2, 1, 0), none(2, 0))
        self.check(lambda x: F.squeeze(x, 1), none(2, 0), none(2, 1, 0))
        self.check(lambda x: F.flatten(x, 1), none(0, 6), none(0, 2, 3))
        self.check(lambda x, y: F.concat([x, y], 0), np.ones((2, 3), np.float32), none(0, 3), np.ones((2, 3), np.float32))
        self.check(lambda x, y: F.concat([x, y], 1), none(0, 5), none(0, 3), none(0, 2))
        self.check(lambda x: F.stack([x, x]), none(2, 0, 3), none(0, 3))
        self.check(lambda x: x.astype("int32"), none(0, dtype=np.int32), none(0))

    def test_taken(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        for key in (slice(1, 1), (slice(None), slice(3, 3)), (0, slice(2, 1)), (None, slice(0, 0)), np.zeros(2, bool),
                    (slice(None), np.zeros(3, bool)), (Ellipsis, slice(5, 9))):
            self.check(lambda x: x[key], a[key], a)
        self.check(lambda x: x[:, 0], none(0), none(0, 3))
        self.check(lambda x: x[..., None], none(0, 3, 1), none(0, 3))
        self.assertEqual([t.shape for t in F.cond_take(tensor(a) > 9, tensor(a))], [(0,), (0,)])
        self.assertEqual([tensor(a)[[]].shape, tensor(a)[:, tensor(np.zeros(0, np.int32))].shape], [(0, 3), (2, 0)])
        x = tensor(a)
        x[3:] = 1
        x[tensor(a) > 9] = 7
        np.testing.assert_array_equal(x.numpy(), a)
        with self.assertRaises(IndexError):
            tensor(none(0, 3))[0]

    def test_as_many_as_data_say(self):
        """A mask's places are no other course of a traced function."""
        x = np.array([1, 2, 3], np.float32)
        for take in (lambda m, x: F.cond_take(m, x)[0], lambda m, x: x[m], lambda m, x: x[F.nonzero(m, as_tuple=True)[0]]):
            for f in ways(lambda m, x: take(m, x) * 2):
                for mask in (5, 7, 1, 0, 4, 0, 0, 5):
                    mask = np.array([mask >> i & 1 for i in range(3)], bool)
                    np.testing.assert_array_equal(f(tensor(mask), tensor(x)).numpy(), x[mask] * 2)

    def test_reduced(self):
        for axis in (0, 1, None, (0, 1)):
            for keep in (False, True):
                for name, dtype in (("sum", np.float32), ("prod", np.float32)):
                    want = np.asarray(getattr(np, name)(none(0, 3), axis=axis, keepdims=keep), dtype)
                    self.check(lambda x: getattr(F, name)(x, axis, keep), want, none(0, 3))
        self.assertTrue(np.isnan(F.mean(tensor(none(0, 3))).item()))
        self.check(lambda x: F.max(x, 1), none(0), none(0, 3))
        self.check(lambda x: F.argmax(x, 1), none(0, dtype=np.int32), none(0, 3))
        for f in (F.max, F.min, F.argmax):
            with self.assertRaisesRegex(ValueError, "has nothing along"):
                f(tensor(none(0, 3)), 0)
        with self.assertRaisesRegex(ValueError, "conv2d_transpose: not of a tensor without elements"):
            F.conv_transpose2d(tensor(none(0, 3, 4, 4)), tensor(np.ones((3, 2, 3, 3))))

    def test_products_and_layers(self):
        for a, b in (((0,), (0,)), ((10, 0), (0, 10)), ((3, 10, 0), (3, 0, 10)), ((0, 4), (4, 5)), ((2, 0, 4), (4, 5))):
            self.check(F.matmul, np.matmul(none(*a), none(*b)), none(*a), none(*b))
        for net, shape, want in (
            (M.Linear(4, 5), (0, 4), (0, 5)), (M.Conv2d(3, 4, 3, padding=1), (0, 3, 8, 8), (0, 4, 8, 8)),
            (M.Conv2d(3, 4, 3, stride=2), (0, 3, 9, 9), (0, 4, 4, 4)), (M.MaxPool2d(2), (0, 3, 8, 8), (0, 3, 4, 4)),
            (M.BatchNorm1d(4), (0, 4), (0, 4)), (M.BatchNorm2d(4), (0, 4, 0, 0), (0, 4, 0, 0)),
            (M.Dropout(0.5), (0, 4), (0, 4)), (M.ReLU(), (0, 4), (0, 4)), (M.Softmax(axis=1), (0, 4), (0, 4)),
            (M.LayerNorm(4), (0, 4), (0, 4)),
        ):
            for f in ways(lambda x: net(x)):
                self.assertEqual(f(tensor(none(*shape))).shape, want, net)
        norm = M.BatchNorm2d(4)
        norm(tensor(none(0, 4, 2, 2)))
        np.testing.assert_array_equal(norm.running_mean.numpy().ravel(), np.zeros(4))

    def test_made(self):
        for x, shape in ((F.zeros((0, 3)), (0, 3)), (F.ones(0), (0,)), (F.full((2, 0), 1.5), (2, 0)), (F.arange(0), (0,)),
                         (F.arange(3, 1), (0,)), (F.linspace(0, 1, 0), (0,)), (random.uniform(size=(0,)), (0,)),
                         (random.normal(size=(2, 0)), (2, 0)), (random.permutation(0), (0,)), (F.zeros_like(tensor([])), (0,))):
            self.assertEqual(x.shape, shape)

    def test_gradients_of_what_is_there(self):
        w = Parameter(np.ones((4, 5), np.float32))
        gm = GradManager().attach([w])
        for rows in (0, 2, 0, 3):  # a batch without images gives its parameters nothing
            with gm:
                gm.backward((F.matmul(tensor(np.ones((rows, 4), np.float32)), w).sum() + (w * 2).sum()))
            np.testing.assert_array_equal(w.grad.numpy(), np.full((4, 5), rows + 2.0))
            w.grad = None
        with gm:
            gm.backward(F.matmul(tensor(none(0, 4)), w))
        self.assertIsNone(w.grad)
        with gm:
            gm.backward(w * 3, tensor(2.0))  # given for all places at once
        np.testing.assert_array_equal(w.grad.numpy(), np.full((4, 5), 6.0))


class Narrow(unittest.TestCase):
    def test_a_number_takes_the_dtype(self):
        for dtype in NARROW:
            a = np.array([1, 2, 100], dtype)
            for f, want in ((lambda x: x + 1, a + dtype(1)), (lambda x: 3 * x, a * dtype(3)), (lambda x: x // 2, a // dtype(2)),
                            (lambda x: -x, -a), (lambda x: x % 3, a % dtype(3)), (lambda x: x * x, a * a),
                            (lambda x: F.maximum(x, 2), np.maximum(a, dtype(2))), (lambda x: x > 1, a > 1),
                            (lambda x: x == 2, a == 2), (lambda x: x * 0.5, np.float32(0.5) * a),
                            (lambda x: x / 2, (a / 2).astype(np.float32)), (lambda x: x + True, a + dtype(1))):
                for g in ways(f):
                    for _ in range(2):
                        y = g(tensor(a))
                        self.assertEqual(y.dtype, want.dtype, dtype)
                        np.testing.assert_array_equal(y.numpy(), want)

    def test_two_tensors(self):
        for left in (*NARROW, np.int32, np.bool_):
            for right in NARROW:
                a, b = np.array([1, 0, 1]).astype(left), np.array([5, 6, 7], right)
                y = tensor(a) + tensor(b)
                self.assertEqual(y.dtype, np.promote_types(left, right))
                np.testing.assert_array_equal(y.numpy(), a + b)
        self.assertEqual((tensor(a) + tensor([0.5])).dtype, np.float32)

    def test_casts_between_all(self):
        kinds = (np.float32, np.float16, np.int32, np.bool_, *NARROW)
        for a in kinds:
            for b in kinds:
                x = np.array([0, 1, 100, 127]).astype(a)
                np.testing.assert_array_equal(tensor(x).astype(b).numpy(), x.astype(b), f"{a} {b}")
        np.testing.assert_array_equal(tensor([300, -1]).astype("uint8").numpy(), [44, 255])

    def test_moves_are_of_their_own_bytes(self):
        for dtype in (*NARROW, np.bool_):
            f = trace(lambda x: F.concat([x.reshape(1, 3, 4, 2), x.transpose(0, 2, 3, 1)], 1)[:, ::-1].reshape(-1))
            for _ in range(2):
                f(tensor(np.zeros((1, 2, 3, 4), dtype)))
            self.assertIn("from_planes", f.text(), dtype)
            self.assertNotIn("cast", f.text(), dtype)

    def test_moved_reduced_and_indexed(self):
        for dtype in NARROW:
            a = np.arange(24).reshape(1, 2, 3, 4).astype(dtype)
            for f in (lambda x: x.transpose(0, 2, 3, 1), lambda x: x.reshape(4, 6), lambda x: x[:, 1, ::2], lambda x: x[..., [2, 0]],
                      lambda x: x.max(axis=1), lambda x: x.T, lambda x: x.reshape(4, 6).reshape(1, 3, 4, 2)):
                want = f(a)
                for g in ways(f):
                    y = g(tensor(a))
                    self.assertEqual((y.shape, y.dtype), (want.shape, want.dtype))
                    np.testing.assert_array_equal(y.numpy(), want)
            x = tensor(a)
            x[0, 0] = 9
            x += 1
            want = a.copy()
            want[0, 0] = 9
            np.testing.assert_array_equal(x.numpy(), want + dtype(1))
            self.assertEqual((x.dtype, F.concat([x, x]).dtype, F.where(x > 1, x, x).dtype), (dtype,) * 3)
            at = tensor(np.array([[2, 0, 1, 0]], dtype))  # and as indices
            rows = np.arange(12, dtype=np.float32).reshape(3, 4)
            np.testing.assert_array_equal(F.gather(tensor(rows), 0, at).numpy(), [[8, 1, 6, 3]])
            np.testing.assert_array_equal(tensor(rows)[at[0]].numpy(), rows[[2, 0, 1, 0]])
            np.testing.assert_array_equal(F.one_hot(at, 3).numpy()[0, 0], [0, 0, 1])
            self.assertEqual(F.scatter(tensor(rows), 0, at, F.zeros((1, 4))).numpy()[2, 0], 0)
            self.assertEqual(F.argmax(x, 3).dtype, np.int32)
            self.assertEqual([t.dtype for t in F.topk(tensor(a[0, 0, 0]), 2)], [dtype, np.int32])
            self.assertEqual(F.full((2,), 3, dtype=dtype).dtype, dtype)
            self.assertEqual((x.item if x.size == 1 else x[0, 0, 0, 0].item)(), 10)
            self.assertEqual(pickle.loads(pickle.dumps(x)).dtype, dtype)
            self.assertEqual(np.asarray(x).dtype, dtype)

    def test_images_and_a_captured_count(self):
        images = np.arange(96).reshape(2, 3, 4, 4).astype(np.uint8)
        net, count = M.Conv2d(3, 2, 3), tensor(np.zeros(1, np.uint8))

        def f(x):
            count._replace(count + 100)
            return net(x.astype("float32"))

        want = f(tensor(images)).numpy()
        np.testing.assert_array_equal(want, net(tensor(images.astype(np.float32))).numpy())
        for n, g in enumerate(ways(f)[1:]):
            for k in range(3):
                np.testing.assert_array_equal(g(tensor(images)).numpy(), want)
                self.assertEqual(count.item(), (100 * (2 + 3 * n + k)) % 256)


if __name__ == "__main__":
    unittest.main()
