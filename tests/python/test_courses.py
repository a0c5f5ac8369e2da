"""A traced function that takes another course in some of its calls: each course has its program, and none harms another's."""

import random
import unittest
import warnings

import numpy as np

import ebb as mge
import ebb.functional as F
from ebb import Parameter, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace


def deep(options, special):
    """A step whose call i does special(i, h, loss): once something else, before the backward."""
    w = Parameter(np.full((64, 256), 0.01, np.float32))
    gm, call = GradManager().attach([w]), [0]

    @trace(symbolic=True, **options)
    def step(x):
        with gm:
            h = x
            for _ in range(6):
                h = F.tanh(h * w)
            gm.backward(special(call[0], h))
        call[0] += 1
        g, w.grad = w.grad, None
        return g.sum()

    return step


class Courses(unittest.TestCase):
    def calls(self, step, n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a first call of a course is outside of the budget
            return [step(tensor(np.ones((64, 256), np.float32))).item() for _ in range(n)]

    def test_a_call_of_another_course_leaves_the_plan_as_it_was(self):
        odd = lambda i, h: F.exp(h).sum() if i == 2 else h.sum()
        whole = deep({}, odd)
        self.calls(whole, 2)
        budget = whole.plan()["persistent_bytes"] + whole.plan()["arena_bytes"] * 6 // 10
        for options in ({}, {"budget": budget}):
            step = deep({"on_mismatch": "retrace", **options}, odd)
            before = self.calls(step, 2)
            plan = step.plan()
            after = self.calls(step, 4)
            self.assertEqual((step.plan()["total_bytes"], after[1:]), (plan["total_bytes"], before[:1] * 3))
            self.assertEqual(step.facts()["n_recordings"], 2)

    def test_a_read_before_the_backward_in_some_calls(self):
        read = lambda i, h: (h.sum(), h.sum().item() if i % 4 == 2 else None)[0]
        step = deep({"on_mismatch": "retrace"}, read)
        values = self.calls(step, 12)
        self.assertEqual(len(set(values)), 1)
        facts = step.facts()
        self.assertEqual((facts["n_recordings"], facts["n_recorded"]), (2, 2))

    def test_courses_that_each_capture_a_tensor_of_their_own(self):
        shared, own = tensor([1.0, 2.0]), [tensor([float(i), 2.0]) for i in range(6)]
        way, rng = [0], random.Random(1)
        step = trace(lambda x: x * shared * own[way[0]], symbolic=True, on_mismatch="retrace")
        for _ in range(100):
            way[0] = rng.randrange(6)
            self.assertEqual(step(tensor([1.0, 3.0])).tolist(), [float(way[0]), 12.0])
        self.assertEqual((step.facts()["n_recordings"], step.facts()["n_recorded"]), (6, 6))

    def test_what_was_drawn_before_another_seed(self):
        def draws(x, reseeds):
            y = F.dropout(x, 0.5)
            if reseeds:
                mge.random.seed(9)
                y = y + F.dropout(x, 0.5)
            return y

        for symbolic in (False, True):
            x, course = tensor(np.ones(64, np.float32)), [False]
            step = trace(lambda x: draws(x, course[0]), symbolic=symbolic, on_mismatch="retrace")
            for course[0] in (False, True):
                mge.random.seed(5)
                want = draws(x, course[0]).numpy()
                mge.random.seed(5)
                np.testing.assert_array_equal(step(x).numpy(), want)

    def test_one_that_can_not_be_planned_does_not_stop_the_others(self):
        w, odd = Parameter([1.0, 2.0]), [False]

        @trace(symbolic=True, on_mismatch="retrace")
        def step(x):
            if not odd[0]:
                return w + x
            again = mge.Tensor.__new__(mge.Tensor)  # a value from before the call that no tensor of then has
            again._share(w)
            return again * x

        n_runs = []
        for i in range(12):
            odd[0] = i % 4 == 3
            np.testing.assert_array_equal(step(tensor([1.0, 3.0])).numpy(), [1, 6] if odd[0] else [2, 5])
            n_runs.append(step.facts()["n_runs"])
        self.assertEqual(n_runs[-1], 9)
        self.assertEqual(step.facts()["n_recordings"], 2)


if __name__ == "__main__":
    unittest.main()
