"""What programs for MegEngine reach for beside the usual: shifts, masks as lists, edges, windows that overlap."""

import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import random, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace

RNG = np.random.default_rng(3)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def same(y, want, text=""):
    want = np.asarray(want)
    assert y.shape == want.shape, f"{text} {y.shape} {want.shape}"
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, atol=1e-6, err_msg=str(text))


class Numbers(unittest.TestCase):
    def test_shifts(self):
        x = np.array([5, -5, 0, 1])
        for by in (0, 1, 3, np.array([0, 1, 5, 30])):
            same(tensor(x) << (by if np.ndim(by) == 0 else tensor(by)), x << by, by)
            same(F.right_shift(tensor(x), tensor(by)), x >> by, by)
        y = z = tensor([3, 8])
        y <<= 2
        y >>= 1
        self.assertIs(y, z)
        same(y, [6, 16])
        same(1 << tensor([0, 4]), [1, 16])
        with self.assertRaisesRegex(TypeError, "shifts are of integers"):
            tensor([1.0]) << 1

    def test_areas_of_hyperbolas(self):
        x = np.array([-1e30, -1e9, -1000, -1, -1e-6, 0, 1e-6, 0.5, 30, 1e9, 3e38], np.float32)
        same(F.asinh(tensor(x)), np.arcsinh(x.astype(np.float64)))
        np.testing.assert_allclose(F.asinh(tensor(x[4:7])).numpy(), x[4:7], rtol=1e-6)
        y = np.array([1, 1 + 2**-20, 1.5, 30, 1e9, 3e38], np.float32)
        np.testing.assert_allclose(F.acosh(tensor(y)).numpy(), np.arccosh(y.astype(np.float64)), rtol=1e-5)
        self.assertTrue(np.isnan(F.acosh(tensor(0.5)).item()))
        for f in (F.asinh, F.acosh):
            np.testing.assert_allclose(f(tensor([3.0, 300, 6e4], dtype="float16")).numpy(),
                                       getattr(np, f"arc{f.__name__[1:]}")([3.0, 300, 6e4]), rtol=4e-3)
        for function, places in ((F.asinh, [-3.0, 0.25, 2.0]), (F.acosh, [1.25, 2.0, 9.0])):
            at = tensor(places)
            gm = GradManager().attach(at)
            with gm:
                gm.backward(function(at).sum())
            more = 1 if function is F.asinh else -1
            np.testing.assert_allclose(at.grad.numpy(), 1 / np.sqrt(np.array(places) ** 2 + more), rtol=1e-5)

    def test_counts_are_any_whole_numbers(self):
        x = draw(4, 2)
        for n in (2, np.int64(2), tensor(2)):
            self.assertEqual([p.shape for p in F.split(tensor(x), n)], [(2, 2), (2, 2)])
            same(F.tile(tensor(x), n), np.tile(x, 2))
        self.assertEqual([p.shape for p in F.split(tensor(x), tensor([1, 3]))], [(1, 2), (2, 2), (1, 2)])

    def test_round(self):
        same(round(tensor([0.5, -1.5, 1.4])), [1, -2, 1])
        with self.assertRaisesRegex(ValueError, "2 digits"):
            round(tensor([0.5]), 2)

    def test_full_of_any_number(self):
        same(F.full((2,), -np.inf), [-np.inf] * 2)
        self.assertTrue(np.isnan(F.full((), np.nan).item()))
        self.assertEqual([F.full((1,), v).dtype for v in (True, 1, np.int64(1), np.bool_(0), 1.5, np.float64(2))],
                         ["bool", "int32", "int32", "bool", "float32", "float32"])
        same(F.full_like(tensor([1, 2]), 1.5), [1, 1])
        same(F.full((2,), 3, dtype="bool"), [True, True])


class Places(unittest.TestCase):
    def test_masks_as_lists(self):
        x = draw(3, 4)
        same(tensor(x)[[True, False, True]], x[[True, False, True]])
        same(tensor(x)[:, [False, True, True, False]], x[:, [False, True, True, False]])
        y = tensor(x)
        y[[True, False, False]] = 0
        self.assertEqual(y.numpy()[0].tolist(), [0] * 4)

    def test_repeats_of_each(self):
        x = draw(3, 2)
        for repeats in ([1, 0, 3], tensor([2, 1, 1]), np.int64(2), tensor(2)):
            want = np.repeat(x, np.asarray(repeats), 0)
            same(F.repeat(tensor(x), repeats, 0), want)
        same(F.repeat(tensor(x), [1, 2, 1, 1, 1, 1]), np.repeat(x, [1, 2, 1, 1, 1, 1]))
        for bad in ([1, 2], [0, 0, 0], 1.5, -1):
            with self.assertRaisesRegex(ValueError, "repeat: repeats"):
                F.repeat(tensor(x), bad, 0)

    def test_argmax_along_several_axes(self):
        x = draw(2, 3, 4, 5)
        for axes in ((0, 1), (1, 3), [0, 2, 3], (0, 1, 2, 3), (-1,)):
            named = sorted(a % 4 for a in axes)
            order = [a for a in range(4) if a not in named] + named
            moved = x.transpose(order).reshape(*[x.shape[a] for a in order[: 4 - len(named)]], -1)
            same(F.argmax(tensor(x), axes), moved.argmax(-1), axes)
            same(F.argmin(tensor(x), axes, keepdims=True),
                 moved.argmin(-1).reshape([1 if a in named else n for a, n in enumerate(x.shape)]), axes)
        with self.assertRaisesRegex(ValueError, "names none"):
            F.argmax(tensor(x), ())


class Edges(unittest.TestCase):
    def test_padding(self):
        x = draw(3, 4, 1)
        for mode, name in (("constant", "constant"), ("REFLECT", "reflect"), ("replicate", "edge"), ("edge", "edge")):
            for width in (((2, 0), (1, 3), (0, 0)), ((0, 2),), ((0, 0),) * 3):
                whole = (*width, *[(0, 0)] * (3 - len(width)))
                same(F.nn.pad(tensor(x), width, mode), np.pad(x, whole, name), (mode, width))
        for value in (2.5, -np.inf, np.inf):
            same(F.pad(tensor(x), ((1, 0), (0, 2)), constant_value=value),
                 np.pad(x, ((1, 0), (0, 2), (0, 0)), constant_values=value))
        same(F.pad(tensor([1, 2]), ((1, 1),), constant_value=7), [7, 1, 2, 7])
        truths = draw(2, 3, 4, 1) > 0
        same(F.pad(tensor(truths), ((0, 1), (2, 0))), np.pad(truths, ((0, 1), (2, 0), (0, 0), (0, 0))))
        for text, args in (("cannot be reflected", (((3, 0),), "reflect")), ("mode 'wrap'", (((1, 0),), "wrap")),
                           ("a tensor of 3 axes", (((-1, 0),),))):
            with self.assertRaisesRegex(ValueError, text):
                F.pad(tensor(x), *args)

    def test_gradients_come_back_from_them(self):
        x = tensor(draw(2, 3))
        gm = GradManager().attach(x)
        for mode in ("reflect", "edge"):
            counts = np.zeros((2, 3), np.float32)
            np.add.at(counts.reshape(-1), np.pad(np.arange(6).reshape(2, 3), ((1, 1), (2, 0)), mode).reshape(-1), 1)
            with gm:
                gm.backward(F.pad(x, ((1, 1), (2, 0)), mode).sum())
            same(x.grad, counts, mode)
            x.grad = None

    def test_convolutions_pad_by_them(self):
        x = tensor(draw(1, 2, 5, 6))
        for mode, name in (("reflect", "reflect"), ("replicate", "edge")):
            m = M.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode)
            same(m(x), F.conv2d(tensor(np.pad(x.numpy(), ((0, 0), (0, 0), (1, 1), (2, 2)), name)), m.weight, m.bias).numpy())
            one = M.Conv1d(2, 3, 3, padding=1, padding_mode=mode)
            same(one(x[:, :, 0]), F.conv1d(tensor(np.pad(x.numpy()[:, :, 0], ((0, 0), (0, 0), (1, 1)), name)), one.weight,
                                           one.bias).numpy())
        with self.assertRaisesRegex(ValueError, "padding_mode 'circular'"):
            M.Conv2d(2, 3, 3, padding_mode="circular")

    def test_windows_that_overlap(self):
        x = draw(2, 3, 7, 5)
        for rows, columns in ((2, 2), (3, 4), (7, 5), (1, 5), (1, 1)):
            down, across = 7 // rows, 5 // columns
            high, wide = 7 - (rows - 1) * down, 5 - (columns - 1) * across
            parts = [[x[:, :, i * down : i * down + high, j * across : j * across + wide] for j in range(columns)]
                     for i in range(rows)]
            for ours, reduce in ((F.adaptive_avg_pool2d, np.mean), (F.adaptive_max_pool2d, np.max)):
                same(ours(tensor(x), (rows, columns)),
                     np.stack([np.stack([reduce(p, (2, 3)) for p in row], -1) for row in parts], -2), (rows, columns))
        with self.assertRaisesRegex(ValueError, "7 x 5 places have no 8 x 5 windows"):
            F.adaptive_avg_pool2d(tensor(x), (8, 5))


class Modules(unittest.TestCase):
    def test_of_two_layers(self):
        x = tensor(draw(4, 3))
        m = M.LinearBnRelu1d(3, 2)
        same(m(x), np.maximum(m.bn(m.linear(x)).numpy(), 0))
        image = tensor(draw(2, 3, 4, 4))
        m = M.ConvTransposeBnRelu2d(3, 2, 3, stride=2)
        same(m(image), np.maximum(m.bn(m.conv_transpose2d(image)).numpy(), 0))
        self.assertEqual(M.ConvTransposeRelu2d(3, 2, 3)(image).shape, (2, 2, 6, 6))

    def test_of_ops(self):
        a, b = tensor([1.0, -3.0]), tensor([2.0, 1.0])
        for method, want in (("add", [3, -2]), ("FUSE_ADD_RELU", [3, 0]), ("max", [2, 1]), ("true_div", [0.5, -3])):
            same(M.Elemwise(method)(a, b), want, method)
        same(M.Elemwise("exp")(a), np.exp([1.0, -3.0]))
        same(M.Concat()([a, b], axis=0), [1, -3, 2, 1])
        with self.assertRaisesRegex(ValueError, "no method 'fold'"):
            M.Elemwise("fold")
        windows = M.SlidingWindow(2, stride=2)(tensor(draw(1, 2, 4, 4)))
        self.assertEqual(M.SlidingWindowTranspose((4, 4), 2, stride=2)(windows).shape, (1, 2, 4, 4))

    def test_of_rows_that_were_trained(self):
        rows = tensor(draw(4, 3))
        m = M.Embedding.from_pretrained(rows)
        same(m(tensor([2, 0])), rows.numpy()[[2, 0]])
        self.assertTrue(m.freeze)
        with self.assertRaisesRegex(ValueError, "two axes"):
            M.Embedding.from_pretrained(tensor([1.0]))


class Bytes(unittest.TestCase):
    def test_are_counted_as_int32_and_chosen_as_they_are(self):
        x = np.array([[250, 3, 9], [7, 7, 255]], np.uint8)
        for name in ("sum", "max", "min", "mean", "argmax"):
            y = getattr(F, name)(tensor(x, dtype="uint8"), 1)
            same(y, getattr(np, name)(x.astype(np.int64), 1), name)
            dtype = {"mean": np.float32, "max": np.uint8, "min": np.uint8}.get(name, np.int32)
            self.assertEqual(y.dtype, dtype)
        same(F.sort(tensor(x, dtype="uint8"))[0], np.sort(x, 1))
        same(F.cumsum(tensor(x, dtype="uint8"), 1), np.cumsum(x.astype(int), 1))
        self.assertEqual(F.max(tensor([True, False])).dtype, np.bool_)


class Others(unittest.TestCase):
    def test_norms_of_one_device(self):
        x = draw(4, 3, 2, 2)
        mean, var = F.zeros((1, 3, 1, 1)), F.ones((1, 3, 1, 1))
        same(F.nn.sync_batch_norm(tensor(x), mean, var, training=True),
             F.nn.batch_norm(tensor(x), F.zeros((1, 3, 1, 1)), F.ones((1, 3, 1, 1)), training=True).numpy())
        with self.assertRaisesRegex(ValueError, "eps_mode 'max'"):
            F.nn.sync_batch_norm(tensor(x), mean, var, eps_mode="max")

    def test_colours_without_alpha(self):
        x = draw(1, 2, 2, 4)
        same(F.vision.cvt_color(tensor(x), "RGBA2BGR"), x[..., [2, 1, 0]])
        same(F.vision.cvt_color(tensor(x), "RGBA2GRAY"), (x[..., :3] * [0.299, 0.587, 0.114]).sum(-1, keepdims=True))

    def test_equal_tensors(self):
        F.utils._assert_equal(tensor([1.0, 100.0]), tensor([1.0, 100.001]))
        for other in ([1.0, 101.0], [np.nan, 100.0]):
            with self.assertRaisesRegex(AssertionError, "differ by"):
                F.utils._assert_equal(tensor([1.0, 100.0]), tensor(other))

    def test_orders_of_a_dtype(self):
        self.assertEqual(random.permutation(5, dtype="float32").dtype, np.float32)
        self.assertEqual(sorted(random.RNG(3).permutation(5, dtype="int32").tolist()), [0, 1, 2, 3, 4])

    def test_all_of_it_traced(self):
        def f(x, i):
            y = F.pad(x, ((1, 1), (0, 2)), "reflect")
            z = F.adaptive_avg_pool2d(y.reshape(1, 1, *y.shape), (2, 3))
            return z, (i << 3) >> 1, F.argmax(y, (0, 1)), F.repeat(x, [2, 0, 1], 0), x[[True, False, True]]

        args = tensor(draw(3, 5)), tensor([3, -4])
        want = [t.numpy() for t in f(*args)]
        for symbolic in (False, True):
            g = trace(symbolic=symbolic)(f)
            for _ in range(3):
                for t, w in zip(g(*args), want):
                    np.testing.assert_array_equal(t.numpy(), w)


if __name__ == "__main__":
    unittest.main()
