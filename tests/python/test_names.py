"""MegEngine's names: where else a module is found, what is not there, and what only answers."""

import ast
import importlib
import os
import sys
import types
import unittest

import numpy as np

import ebb
import ebb.functional as F
from ebb import _absent, _paths, tensor
from ebb.jit import trace


class Absent(unittest.TestCase):
    def test_each_is_there_and_refuses_by_name(self):
        for rooms, names, why in _absent._NAMES:
            for room in rooms.split():
                for name in names.split():
                    one = getattr(importlib.import_module(f"ebb.{room}"), name)
                    with self.assertRaises(NotImplementedError) as refused:
                        one(1, 2, key=3)
                    self.assertEqual(str(refused.exception), f"ebb.{room}.{name}: {why}")

    def test_modules(self):
        for names, why in _absent._MODULES:
            for name in names.split():
                module = importlib.import_module(f"ebb.{name}")
                with self.assertRaisesRegex(NotImplementedError, f"ebb.{name}.Some.thing: ".replace(".", r"\.")):
                    module.Some.thing()
                with self.assertRaises(AttributeError):
                    module.__some__
                self.assertIn(why, module.__doc__)

    def test_is_no_class_no_list_and_no_context(self):
        from ebb.traced_module import TracedModule

        def as_context():
            with TracedModule:
                pass

        for use in (as_context, lambda: types.new_class("Mine", (TracedModule,)), lambda: list(TracedModule), lambda: TracedModule[0]):
            with self.assertRaisesRegex(NotImplementedError, r"ebb\.traced_module\.TracedModule"):
                use()
        self.assertEqual(repr(TracedModule), "<ebb.traced_module.TracedModule: not there>")

    def test_nothing_is_one_of_it(self):
        import ebb.module as M
        from ebb.traced_module import TracedModule

        layer = M.Conv2d(3, 4, 1)
        self.assertTrue(isinstance(layer, (M.QuantStub, M.Conv2d)))
        self.assertFalse(isinstance(layer, (M.QuantStub, TracedModule, ebb.distributed.Group)))
        self.assertFalse(issubclass(M.Conv2d, M.QuantStub))

    def test_what_is_there_is_not_replaced(self):
        for rooms, names, _ in _absent._NAMES:
            for room in rooms.split():
                told = getattr(importlib.import_module(f"ebb.{room}"), "__all__", ())
                self.assertFalse(set(names.split()) & set(told), room)


class Paths(unittest.TestCase):
    def test_are_the_modules_themselves(self):
        for own, paths in _paths._PATHS.items():
            for path in paths.split():
                self.assertIs(importlib.import_module(f"ebb.{path}"), sys.modules[f"ebb.{own}"])

    def test_the_function_tensor_stays_one(self):
        from ebb.tensor import Parameter, Tensor

        self.assertEqual((ebb.tensor(1).item(), Parameter, Tensor), (1, ebb.Parameter, ebb.Tensor))

    def test_the_package_has_what_is_asked_of_devices_and_loggers(self):
        for room, names in ((ebb.device, ["get_cuda_compute_capability", *ebb.device.__all__]),
                            (ebb.logger, ["set_log_file", *ebb.logger.__all__])):
            for name in names:
                self.assertIs(getattr(ebb, name), getattr(room, name))
        self.assertIs(ebb.cgtools, ebb.utils.comp_graph_tools)
        before = ebb.set_log_level("INFO")
        try:
            ebb.enable_debug_log()
            self.assertTrue(ebb.get_logger("mine").isEnabledFor(10))
        finally:
            ebb.set_log_level(before)

    def test_functions_are_found_in_functional_and_by_their_rooms(self):
        for room in ("elemwise", "loss", "math", "metric", "nn", "tensor", "vision"):
            for name in getattr(F, room).__all__:
                self.assertIs(getattr(F, name), getattr(getattr(F, room), name))
                self.assertIn(name, F.__all__)
        for name in ("cross_entropy", "interpolate", "conv3d", "one_hot"):
            self.assertIs(getattr(F.nn, name), getattr(F, name))


class Answers(unittest.TestCase):
    def test_of_a_shape_within_a_trace(self):
        for symbolic in (False, True):
            f = trace(symbolic=symbolic)(lambda x: x.reshape(x.shape[1], x.shape[0]) + float(x.shape.numpy().sum()))
            for n in (2, 3, 3):
                np.testing.assert_array_equal(f(F.ones((n, 4))).numpy(), np.full((4, n), 5.0 + n))
        shape = F.ones((2, 3)).shape
        self.assertEqual((shape, shape[:1], shape.numpy().dtype, tensor(1).shape), ((2, 3), (2,), np.int32, ()))
        self.assertIsInstance(shape, tuple)

    def test_sizes_and_their_comparisons_have_arrays_within_a_trace(self):
        from ebb.core import set_symbolic_shape
        from ebb.core.tensor.utils import isscalar

        for symbolic in (False, True):

            @trace(symbolic=symbolic)
            def f(x):
                size = x.shape[0]
                assert isscalar(size) and size + 1 == 3 and x.shape[:1].numpy().tolist() == [2]
                return size == 0, size > 1, x * size

            for _ in range(3):
                zero, more, y = f(tensor([1.0, 2.0]))
                self.assertEqual((zero.numpy(), more.item(), y.tolist()), (False, True, [2, 4]))
                self.assertEqual((bool(zero), bool(more), zero.numpy().dtype), (False, True, np.bool_))
        self.assertIs(tensor([1, 2]).shape[0] == 2, True)
        self.assertFalse(set_symbolic_shape(True))
        try:
            self.assertEqual((tensor([1, 2]).shape[0] == 2).numpy(), True)
            self.assertEqual(tensor([1, 2]).shape[0].numpy().dtype, np.int32)
        finally:
            set_symbolic_shape(False)

    def test_of_options(self):
        from ebb.core import set_option
        from ebb.core._trace_option import set_symbolic_shape, use_symbolic_shape
        from ebb.core.tensor.utils import astensor1d, isscalar, make_shape_tuple

        self.assertEqual([set_symbolic_shape(True), use_symbolic_shape(), set_symbolic_shape(False)], [False, True, True])
        self.assertEqual([set_option("async_level", 0), set_option("async_level", 2)], [None, 0])
        self.assertEqual([isscalar(tensor(1)), isscalar(tensor([1])), isscalar(2)], [True, False, True])
        self.assertEqual(make_shape_tuple(tensor([2, 3])), (2, 3))
        self.assertEqual(astensor1d([1, tensor(2)]).tolist(), [1, 2])

    def test_of_switches(self):
        from ebb import config

        with config.override(benchmark_kernel=True):
            self.assertTrue(config.benchmark_kernel)
        self.assertFalse(config.benchmark_kernel)
        with self.assertRaisesRegex(TypeError, "no switch 'fast'"), config.override(fast=True):
            pass

    def test_of_a_process_alone(self):
        import ebb.distributed as dist

        self.assertEqual((dist.get_rank(), dist.get_world_size(), dist.is_distributed(), dist.WORLD), (0, 1, False, None))
        for made in (dist.launcher(lambda: 1), dist.launcher(n_gpus=2)(lambda: 1), dist.make_allreduce_cb):
            with self.assertRaisesRegex(NotImplementedError, "one device"):
                made()

    def test_of_memory(self):
        whole, free = ebb.device.get_mem_status_bytes()
        self.assertTrue(0 < free <= whole)
        self.assertFalse(ebb.is_cambricon_available() or ebb.is_rocm_available())


class Stubs(unittest.TestCase):
    def test_name_what_the_extension_has(self):
        with open(os.path.join(os.path.dirname(ebb.__file__), "_core.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        classes = {n.name: {m.name for m in n.body if isinstance(m, ast.FunctionDef)} for n in tree.body if isinstance(n, ast.ClassDef)}
        functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
        there = {n: x for n, x in vars(ebb._core).items() if not n.startswith("__")}
        self.assertEqual(functions, {n for n, x in there.items() if callable(x) and not isinstance(x, type)})
        self.assertEqual(set(classes), {n for n, x in there.items() if isinstance(x, type)})
        for name, told in classes.items():
            known = set(vars(there[name])) - {"__doc__", "__module__", "__new__"}
            hidden = {"__init__", "__buffer__"}  # the latter has a name since Python 3.12
            self.assertEqual(told - hidden, known - hidden, name)


if __name__ == "__main__":
    unittest.main()
