"""A model as text, compiled: its options, its parameters' own bytes, gradients that outlive the step."""

import gc
import unittest

import numpy as np

from ebb import _core

TEXT = """ebb 1
graph small
%x = input f32[4,3]
%labels = input i32[4]
%w = param f32[2,3] init=uniform
%y = linear %x, %w
%loss = softmax_xent %y, %labels
loss %loss
"""


class Programs(unittest.TestCase):
    def step(self, program, lr):
        program.feed("x", np.arange(12, dtype="float32"))
        program.feed("labels", np.array([0, 1, 1, 0], "int32"))
        program.feed("lr", np.array(lr, "float32"))
        program.step()

    def fetch(self, program, name):
        element, shape = program.tensor(name)
        self.assertEqual(element, 0)
        array = np.empty(shape, "float32")
        program.fetch(name, array)
        return array

    def test_a_view_is_the_parameter_and_keeps_the_program(self):
        program = _core.Program(TEXT, {"momentum": 0.0, "weight_decay": 0.0}, ["w.grad"])
        self.assertEqual(program.block_bytes(), program.plan()["total_bytes"])
        view = np.frombuffer(program.view("w"), "float32").reshape(2, 3)
        before = view.copy()
        self.step(program, 0.5)
        np.testing.assert_array_equal(view, self.fetch(program, "w"))
        np.testing.assert_array_equal(view, before - np.float32(0.5) * self.fetch(program, "w.grad"))
        view[:] = 0
        self.step(program, 0.0)
        np.testing.assert_allclose(self.fetch(program, "loss"), np.log(2), rtol=1e-6)
        del program
        gc.collect()
        view += 1
        self.assertEqual(float(view.sum()), 6)

    def test_what_is_wrong_is_said(self):
        program = _core.Program(TEXT, {})
        for kind, text, call in (
            (ValueError, "is no param or state", lambda: program.view("x")),
            (ValueError, "no value", lambda: program.view("v")),
            (ValueError, '^optimizer is "sgd" or "adamw", not \'lion\'$', lambda: _core.Program(TEXT, {"optimizer": "lion"})),
            (ValueError, "^memory is \"none\", \"in_place\", \"sublinear\" or \"budget\", not '1'$", lambda: _core.Program(TEXT, {"memory": "1"})),
            (TypeError, "expected a string", lambda: _core.Program(TEXT, {}, [1])),
            (ValueError, "w.gard", lambda: _core.Program(TEXT, {}, ["w.gard"])),
            (TypeError, "has no option", lambda: _core.Program(TEXT, {"lr": 1})),
            (TypeError, "cannot create", lambda: _core.Bytes()),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


if __name__ == "__main__":
    unittest.main()
