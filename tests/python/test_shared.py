"""Values that other libraries look at, and memory of theirs that becomes a value."""

import gc
import hashlib
import os
import sys
import tempfile
import unittest
import weakref

import numpy as np

import ebb as mge
from ebb import tensor
from ebb.utils import dlpack


def same(test, x, want, dtype):
    test.assertEqual(x.shape, want.shape)
    test.assertEqual(x.dtype, np.dtype(dtype))
    np.testing.assert_array_equal(x.numpy() if hasattr(x, "numpy") else x, want)


class Legacy:
    """Asks for DLPack as before its version 1."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **kwargs):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class Shared(unittest.TestCase):
    SHAPES = [(), (7,), (2, 3), (2, 3, 5), (2, 3, 4, 5), (1, 3, 1, 5), (2, 3, 1, 2, 2), (1, 2, 1, 3, 2, 2)]

    def test_others_look_at_a_value_without_a_copy(self):
        for shape in self.SHAPES:
            for dtype in ("float32", "int32", "float16", "bool"):
                with self.subTest(f"{dtype} {shape}"):
                    array = (np.arange(np.prod(shape)).reshape(shape) % 2).astype(dtype)
                    x = tensor(array, dtype=dtype)
                    looks = [np.asarray(x), np.asarray(x)]
                    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
                        looks += [np.from_dlpack(x)]
                    for look in looks:
                        same(self, look, array, dtype)
                        self.assertFalse(look.flags.writeable)
                        self.assertEqual(look.ctypes.data, looks[0].ctypes.data)

    def test_what_is_looked_at_stays_as_it_is(self):
        x = tensor(np.arange(1000, dtype=np.float32))
        look = np.asarray(x)
        x += 1
        x[3] = 7
        self.assertEqual(look[3], 3)
        del x
        gc.collect()
        tensor(np.zeros(1000, np.float32))
        np.testing.assert_array_equal(look, np.arange(1000))
        before = mge.device.get_allocated_memory()
        del look
        self.assertLess(mge.device.get_allocated_memory(), before)

    def test_copies_may_be_written_to(self):
        x = tensor([1.0, 2.0])
        for copy in (x.numpy(), np.array(x)):
            copy[0] = 9
            self.assertEqual(x.tolist(), [1, 2])
        self.assertNotEqual(np.from_dlpack(Legacy(x)).ctypes.data, np.asarray(x).ctypes.data)
        with self.assertRaisesRegex(BufferError, "may not be written to"):
            x.__dlpack__(copy=False)

    def test_who_asks_for_rows_gets_them_or_is_told(self):
        flat, image = tensor(np.zeros((2, 3), np.float32)), tensor(np.zeros((2, 3, 4, 5), np.float32))
        self.assertEqual(hashlib.sha1(np.asarray(flat)).digest(), hashlib.sha1(bytes(24)).digest())
        self.assertTrue(memoryview(flat._view()).c_contiguous)
        with self.assertRaisesRegex(BufferError, "by its strides"):
            hashlib.sha1(image._view())  # takes bytes as they lie
        program = mge._core.Program("ebb 1\ngraph g\n%x = input f32[2,3,4,5]\n%y = neg %x\noutput %y\n", {}, [])
        with self.assertRaisesRegex(BufferError, "channels-last"):
            program.feed("x", image._view())  # asks for rows

    def test_what_lies_well_comes_in_without_a_copy(self):
        for shape in self.SHAPES:
            with self.subTest(str(shape)):
                n = int(np.prod(shape))
                room = np.zeros(n + 16, np.float32)
                skip = -room.ctypes.data // 4 % 16
                flat = room[skip : skip + n]
                flat[:] = np.arange(n)
                if len(shape) == 4:
                    array = flat.reshape([shape[i] for i in (0, 2, 3, 1)]).transpose(0, 3, 1, 2)
                else:
                    array = flat.reshape(shape)
                x = dlpack.from_dlpack(array)
                same(self, x, array, "float32")
                self.assertEqual(np.asarray(x).ctypes.data, array.ctypes.data)
                y = x * 2
                x += 1  # another value: what was borrowed is as it was
                same(self, x, array + 1, "float32")
                np.testing.assert_array_equal(flat, np.arange(n))
                same(self, y, array * 2, "float32")

    def test_what_is_borrowed_is_given_back(self):
        array = np.zeros(4096, np.float32)
        array = array[-array.ctypes.data // 4 % 16 :]
        before = sys.getrefcount(array)
        x = dlpack.from_dlpack(array)
        z = x.reshape(-1, 1)
        del x
        gc.collect()
        self.assertEqual(z.shape[1], 1)
        del z
        gc.collect()
        tensor([1.0]) + 1  # what could not be destroyed at once is
        self.assertEqual(sys.getrefcount(array), before)

    def test_a_finalizer_of_what_was_borrowed_may_call(self):
        class Lent(np.ndarray):
            pass

        array = np.zeros(4096, np.float32)
        array = array[-array.ctypes.data // 4 % 16 :].view(Lent)
        said = []

        def finalizer():
            try:
                said.append((tensor([1.0]) + 1).item())
            except RuntimeError as error:
                said.append(str(error))

        weakref.finalize(array, finalizer)
        x = dlpack.from_dlpack(array)
        del array
        self.assertEqual(said, [])
        del x
        gc.collect()
        tensor([1.0]) + 1
        self.assertEqual(said, ["ebb: called from within a call of its own"])
        self.assertEqual((tensor([1.0]) + 1).item(), 2.0)

    def test_arrays_that_nobody_can_write_to_come_in_without_a_copy(self):
        for shape in self.SHAPES:
            for dtype in ("float32", "int32", "float16", "bool", "bfloat16"):
                with self.subTest(f"{dtype} {shape}"):
                    look = np.asarray(tensor(np.ones(shape), dtype=mge._dtype.DTYPES[6] if dtype == "bfloat16" else dtype))
                    x = tensor(look)
                    same(self, x, look, look.dtype)
                    self.assertEqual(np.asarray(x).ctypes.data, look.ctypes.data)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data.npy")
            np.save(path, np.arange(4096, dtype=np.float32))
            mapped = np.load(path, mmap_mode="r")
            rows = tensor(mapped)
            self.assertEqual(np.asarray(rows).ctypes.data, mapped.ctypes.data)
            del mapped
            self.assertEqual((rows + 1).numpy()[4095], 4096)

    def test_others_are_copied(self):
        own = np.arange(4096, dtype=np.float32)
        own = own[-own.ctypes.data // 4 % 16 :]
        view = own[:]
        view.flags.writeable = False
        fixed = np.array(own)
        fixed.flags.writeable = False
        wide = np.asarray(tensor(np.zeros(16), dtype="float64"))
        buffer = np.frombuffer(bytearray(4096), np.float32)
        buffer.flags.writeable = False
        shown = np.frombuffer(memoryview(own).toreadonly(), np.float32)
        for array in (own, view, fixed, wide, buffer, shown, np.asarray(tensor(own))[1:]):
            x = tensor(array)
            self.assertNotEqual(np.asarray(x).ctypes.data, array.ctypes.data)
            self.assertEqual(x.tolist(), array.tolist())
        x = tensor(shown)
        first, own[0] = own[0], -1
        self.assertEqual((x.numpy()[0], shown[0]), (first, -1))

    def test_other_layouts_and_dtypes_come_in_as_copies(self):
        array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        for data in (array, array.transpose(2, 0, 1), array[:, ::2], array.__dlpack__(), dlpack.to_dlpack(tensor(array))):
            found = dlpack.from_dlpack(data)
            same(self, found, data if isinstance(data, np.ndarray) else array, "float32")
        self.assertEqual(dlpack.from_dlpack(array.astype(np.float64)).dtype, "float32")
        self.assertEqual(dlpack.from_dlpack(array.astype(np.uint8)).dtype, "uint8")


if __name__ == "__main__":
    unittest.main()
