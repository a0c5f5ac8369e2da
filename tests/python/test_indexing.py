"""x[key], x[key] = value, against NumPy."""

import unittest

import numpy as np

from ebb import Parameter, tensor
from ebb.autodiff import GradManager

A = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
KEYS = (
    0, -1, (1, 2), (slice(None), 1), (..., 2), (0, ..., 3), slice(1, None), (slice(None, None, -1), slice(0, 3, 2)),
    (None, 1), (slice(None), None, 2), (..., None), (1, slice(3, 0, -2), slice(None), 4), (), Ellipsis,
    (slice(-1, None), slice(None), slice(1, 2)), (1, 2, 3, 4),
)


class Get(unittest.TestCase):
    def test_integers_slices_ellipsis_none(self):
        for dtype in ("float32", "int32", "bool"):
            for array in (A.astype(dtype), A.reshape(2, 3, 4, 5, 1).astype(dtype), A[0].astype(dtype)):
                for key in KEYS:
                    try:
                        want = array[key]
                    except IndexError:
                        continue
                    y = tensor(array)[key]
                    self.assertEqual(y.dtype, array.dtype)
                    np.testing.assert_array_equal(y.numpy(), want, f"{key} of {array.shape}")

    def test_lists_of_indices(self):
        b = A[0]
        i, j = np.array([2, 0, -1, 1]), np.array([3, 0, 1, -1])
        every = slice(None)
        for key in ((i,), (every, i % 3), (i, j), (every, i, j), (i[:, None], j[None]), (i, every, j)):
            key = key if len(key) > 1 else key[0]
            np.testing.assert_array_equal(tensor(b)[key].numpy(), b[key], str(key))
        np.testing.assert_array_equal(tensor(b)[tensor([2, 0])].numpy(), b[[2, 0]])
        rows = np.arange(3)
        table, columns = b[0, :3], [1, 0, 4]
        np.testing.assert_array_equal(tensor(table)[tensor(rows), tensor(columns)].numpy(), table[rows, columns])

    def test_lists_along_one_axis(self):
        i = np.array([[1, 0], [-1, 1]])
        for dtype in ("float32", "int32", "bool"):
            for a in (A, A[0], A[0, 0]):
                for axis in range(a.ndim):
                    for index in (i, i[0]):
                        key = (slice(None),) * axis + (index,)
                        x, want = tensor(a.astype(dtype)), a.astype(dtype)[key]
                        for y in (x[key], x[(*key[:-1], tensor(index))]):
                            self.assertEqual((y.shape, y.dtype), (want.shape, want.dtype))
                            np.testing.assert_array_equal(y.numpy(), want, f"{a.shape} {axis}")
        big = tensor(np.array([2**24 + 1, 7], np.int32))  # which float32 cannot hold
        self.assertEqual(big[[0, 0]].tolist(), [2**24 + 1] * 2)

    def test_what_is_refused(self):
        x = tensor(A)
        for key, error, text in (
            (2, IndexError, "out of axis 0"), ((0, 0, 0, 0, 0), IndexError, "5 axes"),
            (tensor([True, False, True]), IndexError, "mask of shape"),
            (tensor([0.5]), TypeError, "float32"),
            ((..., ...), IndexError, "ellips"), (True, TypeError, "truth"),
            ([0, 5], IndexError, "from 0 to 5 are out of 2"),
        ):
            with self.assertRaisesRegex(error, text):
                x[key]

    def test_iteration(self):
        self.assertEqual([r.tolist() for r in tensor([[1, 2], [3, 4]])], [[1, 2], [3, 4]])


class Set(unittest.TestCase):
    def test_as_in_numpy(self):
        for dtype in ("float32", "int32", "bool"):
            for key in KEYS:
                want = A.astype(dtype)
                x, other = tensor(want), tensor(want)
                value = np.ones_like(want[key]) * (want[key] == 0)
                want[key] = value
                x[key] = value
                np.testing.assert_array_equal(x.numpy(), want, f"{key} {dtype}")
                np.testing.assert_array_equal(other.numpy(), A.astype(dtype))

    def test_numbers_and_broadcast(self):
        x = tensor(np.zeros((3, 4), np.float32))
        x[1] = 5
        x[:, ::2] = tensor([1.0, 2.0])
        np.testing.assert_array_equal(x.numpy(), [[1, 0, 2, 0], [1, 5, 2, 5], [1, 0, 2, 0]])
        x[...] = 7
        np.testing.assert_array_equal(x.numpy(), np.full((3, 4), 7))

    def test_by_lists_and_masks(self):
        rows, mask = np.array([1, 0, 1]), A % 7 == 2
        keys = ([1, -1], (slice(None), [2, 0, 2], 1), (rows, [0, 2, 0]), mask, (0, mask[1]), (..., mask[0, 0]),
                (slice(None), mask[0, :, 0, 2]), (1, ..., mask[0, 0, 0]))
        for key in keys:
            want, x = A.copy(), tensor(A)
            np.testing.assert_array_equal(x[key].numpy(), A[key])
            value = np.arange(A[key].size, dtype=np.float32).reshape(A[key].shape)
            for new in (value, -3):
                want[key] = new
                x[key] = tensor(new)
                np.testing.assert_array_equal(x.numpy(), want)

    def test_gradients_pass_by_what_is_replaced(self):
        x, v = Parameter([1.0, 2.0, 3.0]), Parameter([5.0, 7.0])
        gm = GradManager().attach([x, v])
        with gm:
            y = x * 2
            y[[2, 0]] = v
            y[tensor([False, True, False])] = 0
            gm.backward((y * tensor([1.0, 10.0, 100.0])).sum())
        self.assertEqual((x.grad.tolist(), v.grad.tolist()), ([0, 0, 0], [100, 1]))

    def test_infinities_elsewhere_stay(self):
        x = tensor([np.inf, 1.0, np.nan])
        x[1] = 2
        np.testing.assert_array_equal(x.numpy(), np.array([np.inf, 2, np.nan], np.float32))


if __name__ == "__main__":
    unittest.main()
