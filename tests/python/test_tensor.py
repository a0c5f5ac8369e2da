"""Tensors: what they are made of, operators, promotion, and shapes in logical order."""

import copy
import pickle
import unittest

import numpy as np

import ebb as mge
from ebb import Parameter, Tensor, tensor


def same(test, x, want, dtype=None):
    want = np.asarray(want)
    test.assertEqual(x.shape, want.shape)
    if dtype is not None:
        test.assertEqual(x.dtype, np.dtype(dtype))
    np.testing.assert_allclose(x.numpy() if hasattr(x, "numpy") else x, want, rtol=1e-6, atol=1e-6)


class Made(unittest.TestCase):
    def test_wide_dtypes_become_those_of_megengine(self):
        for data, dtype in (
            (1, "int32"), (1.5, "float32"), (True, "bool"), ([1, 2], "int32"), (np.float64(3), "float32"),
            (np.arange(3, dtype=np.int64), "int32"), (np.arange(3, dtype=np.uint8), "uint8"),
            (np.arange(-3, 3, dtype=np.int8), "int8"), (np.arange(-3, 3, dtype=np.int16), "int16"),
            (np.arange(3, dtype=np.uint16), "int32"),
            (np.ones(2, np.float16), "float16"), (np.array([True]), "bool"),
        ):
            x = tensor(data)
            self.assertEqual(x.dtype, np.dtype(dtype), data)
            np.testing.assert_array_equal(x.numpy(), np.asarray(data))

    def test_what_has_no_element_is_refused_with_the_reason(self):
        with self.assertRaisesRegex(OverflowError, "3000000000"):
            tensor([3000000000])
        with self.assertRaisesRegex(TypeError, "float32, float64, int32"):
            tensor([1], dtype="int64")
        with self.assertRaisesRegex(TypeError, "dtype"):
            tensor(["a"])

    def test_a_value_given_later(self):
        x = tensor([])
        for value in ([1.5], [[1, 2]], True):
            x.set_value(value)
            self.assertEqual(x.tolist(), value)

    def test_every_rank_comes_back_in_logical_order(self):
        for rank in range(7):
            shape = (2, 3, 2, 5, 2, 3)[:rank]
            array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
            for dtype in ("float32", "int32", "bool", "uint8", "float64"):
                np.testing.assert_array_equal(tensor(array, dtype).numpy(), array.astype(dtype))

    def test_not_contiguous_arrays(self):
        array = np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1)[::2]
        np.testing.assert_array_equal(tensor(array).numpy(), array)

    def test_printed_as_megengine_does(self):
        self.assertEqual(repr(tensor([3])), "Tensor([3], dtype=int32, device=xpux:0)")
        self.assertEqual(repr(Parameter([1.0])), "Parameter([1.], device=xpux:0)")
        self.assertEqual(f"{tensor(1.25):.1f}", "1.2")

    def test_figures_and_numbers(self):
        x = tensor(np.zeros((2, 3), np.float32))
        self.assertEqual((x.shape, x.ndim, x.size, len(x), x.device), ((2, 3), 2, 6, 2, "xpux:0"))
        self.assertEqual((tensor(3).item(), float(tensor([2.5])), int(tensor(7.9))), (3, 2.5, 7))
        self.assertIs(tensor([True]).item(), True)
        self.assertEqual([10, 20][tensor(1)], 20)
        self.assertEqual(tensor([[1, 2]]).tolist(), [[1, 2]])
        with self.assertRaisesRegex(ValueError, r"\(2, 3\)"):
            x.item()
        with self.assertRaisesRegex(TypeError, "len"):
            len(tensor(1))

    def test_pickles_and_copies(self):
        x = Parameter(np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4))
        x.name = "w"
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            self.assertIs(type(y), Parameter)
            self.assertEqual(y.name, "w")
            np.testing.assert_array_equal(y.numpy(), x.numpy())
            y += 1
            self.assertEqual(x.numpy()[0, 0, 0, 0], 0)

    def test_devices_by_megengines_names(self):
        x = tensor([1.0], device="xpux")
        same(self, x.to("cpu0"), [1.0])
        with self.assertRaisesRegex(ValueError, "EBB_DEVICE"):
            x.to("gpu0")
        with self.assertRaisesRegex(ValueError, "xpux"):
            tensor([1.0], device="tpu")


class Operators(unittest.TestCase):
    def test_promotion_of_tensors(self):
        i, f, b = tensor([1, 2]), tensor([0.5, 4.0]), tensor([True, False])
        for x, want, dtype in (
            (i + f, [1.5, 6], "float32"), (i + i, [2, 4], "int32"), (b + b, [2, 0], "int32"),
            (b * f, [0.5, 0], "float32"), (i / i, [1, 1], "float32"), (i // tensor([2, -2]), [0, -1], "int32"),
            (i % tensor([2, -3]), [1, -1], "int32"), (i == f, [False, False], "bool"), (i < f, [False, True], "bool"),
            (i > b, [False, True], "bool"), (i != tensor([1, 3]), [False, True], "bool"), (f >= i, [0, 1], "bool"),
        ):
            same(self, x, want, dtype)

    def test_promotion_of_numbers(self):
        i, f, b = tensor([1, 2]), tensor([0.5, 4.0]), tensor([True, False])
        for x, want, dtype in (
            (i + 1, [2, 3], "int32"), (1 - i, [0, -1], "int32"), (i * 1.5, [1.5, 3], "float32"),
            (f * 2, [1, 8], "float32"), (2 / i, [2, 1], "float32"), (b + 1, [2, 1], "int32"),
            (i * True, [1, 2], "int32"), (b & True, [True, False], "bool"), (2.0 ** f, [2**0.5, 16], "float32"),
            (f**2, [0.25, 16], "float32"), (f**0.5, [0.5**0.5, 2], "float32"), (f**-1.0, [2, 0.25], "float32"),
            (7 // i, [7, 3], "int32"), (-f, [-0.5, -4], "float32"), (abs(-i), [1, 2], "int32"),
        ):
            same(self, x, want, dtype)

    def test_arrays_and_lists_are_operands(self):
        x = tensor([1.0, 2.0])
        for y in (x + np.array([1.0, 1.0]), np.array([1.0, 1.0]) + x, x + [1, 1], np.float32(1) + x):
            self.assertIsInstance(y, Tensor)
            same(self, y, [2, 3])

    def test_truths(self):
        a, b = tensor([True, True, False]), tensor([True, False, False])
        same(self, a & b, [1, 0, 0], "bool")
        same(self, a | b, [1, 1, 0], "bool")
        same(self, a ^ b, [0, 1, 0], "bool")
        same(self, ~a, [0, 0, 1], "bool")
        with self.assertRaisesRegex(TypeError, "bool"):
            tensor([1]) & tensor([2])
        with self.assertRaisesRegex(TypeError, "bool"):
            ~tensor([1])

    def test_broadcast(self):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
        same(self, tensor(a) + tensor(b), a + b)
        c = np.arange(24.0).reshape(2, 3, 2, 2)
        same(self, tensor(c) * tensor(b.reshape(3, 1, 1)), c * b.reshape(3, 1, 1))
        with self.assertRaisesRegex(ValueError, "add.*2.*3"):
            tensor([1, 2]) + tensor([1, 2, 3])

    def test_in_place_gives_another_value_to_one_tensor(self):
        x = tensor([1.0, 2.0])
        y, kept = x.to("xpux"), x
        x += 1
        x *= tensor([2.0, 3.0])
        same(self, x, [4, 9])
        same(self, y, [1, 2])
        self.assertIs(kept, x)

    def test_in_place_may_change_the_type(self):
        x = tensor([1, 2])
        x /= 2
        same(self, x, [0.5, 1], "float32")

    def test_numbers_that_do_not_fit(self):
        with self.assertRaisesRegex(OverflowError, "32 bits"):
            tensor([1]) + 2**40

    def test_what_is_no_operand(self):
        with self.assertRaises(TypeError):
            tensor([1]) + "a"
        self.assertFalse(tensor([1]) == None)  # noqa: E711
        self.assertEqual(len({tensor([1]), tensor([1])}), 2)


class Shapes(unittest.TestCase):
    shapes = ((24,), (2, 12), (2, 3, 4), (2, 3, 2, 2), (4, 3, 1, 2), (24, 1, 1, 1), (1, 1, 4, 6), (1, 2, 3, 2, 2))

    def test_reshape_keeps_logical_order(self):
        for dtype in ("float32", "int32", "bool"):
            for a in self.shapes:
                array = (np.arange(24) % 5).reshape(a).astype(dtype)
                for b in self.shapes:
                    y = tensor(array).reshape(b)
                    self.assertEqual(y.dtype, np.dtype(dtype))
                    np.testing.assert_array_equal(y.numpy(), array.reshape(b), f"{dtype} {a} {b}")

    def test_a_shape_may_have_tensors_in_it(self):
        x = tensor(np.arange(12.0))
        three = tensor([3])
        for shape in ((three, 4), (tensor(3), 4), tensor([3, 4]), [three, tensor([4])], np.array([3, 4]), (3, -1)):
            self.assertEqual(x.reshape(shape).shape, (3, 4))
            self.assertEqual(mge.functional.reshape(x, shape).shape, (3, 4))
        self.assertEqual(x.reshape(three, 4).shape, (3, 4))
        self.assertEqual(mge.functional.broadcast_to(tensor([[1.0]]), (three, tensor([2]))).tolist(), [[1.0] * 2] * 3)
        with self.assertRaises(TypeError):
            x.reshape((tensor([[3], [4]]),))

    def test_reshape_to_and_from_no_axes(self):
        for value in (2.5, 3, True):
            self.assertEqual(tensor([value]).reshape(()).shape, ())
            self.assertEqual(tensor([value]).reshape(()).item(), value)
            self.assertEqual(tensor(value).reshape(1, 1).tolist(), [[value]])

    def test_reshape_with_an_open_size_and_wrong_ones(self):
        x = tensor(np.arange(6.0))
        self.assertEqual(x.reshape(2, -1).shape, (2, 3))
        self.assertEqual(x.reshape((3, 2)).shape, (3, 2))
        for shape in ((4, 2), (-1, 4), (-1, -1), (0, 6)):
            with self.assertRaisesRegex(ValueError, "6 elements"):
                x.reshape(shape)

    def test_transpose_flatten_astype_detach(self):
        a = np.arange(24.0).reshape(2, 3, 4)
        same(self, tensor(a).transpose(2, 0, 1), a.transpose(2, 0, 1))
        same(self, tensor(a).T, a.T)
        same(self, tensor(a).flatten(), a.reshape(-1))
        b = a.reshape(2, 3, 2, 2)
        same(self, tensor(b).transpose(0, 2, 3, 1), b.transpose(0, 2, 3, 1))
        same(self, tensor([1.7, -1.7, 0.0]).astype("int32"), [1, -1, 0], "int32")
        same(self, tensor([1.7, 0.0]).astype(bool), [1, 0], "bool")
        same(self, tensor([3]).detach(), [3], "int32")
        with self.assertRaisesRegex(ValueError, "axes"):
            tensor(a).transpose(0, 0, 1)


    def test_eight_axes_and_no_more(self):
        a = np.arange(2.0 * 3 * 2 * 3 * 2 * 2 * 3 * 2, dtype=np.float32).reshape(2, 3, 2, 3, 2, 2, 3, 2)
        order = (7, 0, 6, 5, 2, 1, 4, 3)
        same(self, tensor(a), a)
        same(self, tensor(a).transpose(order), a.transpose(order))
        same(self, tensor(a) + tensor(a[:, :1, :, :1]), a + a[:, :1, :, :1])
        same(self, tensor(a)[1, ..., ::-1, 0], a[1, ..., ::-1, 0])
        self.assertEqual(mge.functional.sum(tensor(a), axis=(0, 2, 4, 6)).tolist(), a.sum(axis=(0, 2, 4, 6)).tolist())
        with self.assertRaisesRegex(ValueError, "9 numbers, more than 8"):
            tensor(a[None])


class Save(unittest.TestCase):
    def test_what_is_saved_is_loaded(self):
        import io

        file = io.BytesIO()
        mge.save({"x": tensor([1.0, 2.0]), "epoch": 3}, file)
        file.seek(0)
        state = mge.load(file, map_location="cpu0")
        same(self, state["x"], [1, 2])
        self.assertEqual(state["epoch"], 3)


if __name__ == "__main__":
    unittest.main()
