"""Parameters that are attached and that a call does not use: a head for another task, what a new layer has replaced."""

import unittest

import numpy as np

import ebb as mge
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import OverBudget, Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace


def training(make_step, head_of=lambda i: i % 3 == 1):
    """Losses, parameters and the step; the second head counts in some calls alone."""
    random.seed(3)
    body, first, second = M.Sequential(M.Linear(8, 16), M.ReLU()), M.Linear(16, 4), M.Linear(16, 3)
    params = [*body.parameters(), *first.parameters(), *second.parameters()]
    gm, opt = GradManager().attach(params), optim.SGD(params, lr=0.1, momentum=0.9)

    def run(x, y, both):
        with gm:
            h = body(x)
            loss = F.loss.cross_entropy(first(h), y)
            if both:
                loss = loss + F.loss.cross_entropy(second(h), y % 3)
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    step, rng, losses = make_step(run), np.random.default_rng(4), []
    for i in range(9):
        x, y = rng.standard_normal((6, 8)).astype(np.float32), rng.integers(0, 4, 6).astype(np.int32)
        losses.append(step(tensor(x), tensor(y), head_of(i)).numpy())
    return [*losses, *(p.numpy() for p in params)], step


class Unused(unittest.TestCase):
    def test_what_is_read_behind_the_backward_alone(self):
        for symbolic in (False, True):
            w, unused, mean = Parameter([1.0, 2.0]), Parameter([3.0]), tensor([0.0])
            gm = GradManager().attach([w, unused])

            @trace(symbolic=symbolic)
            def step(x):
                with gm:
                    gm.backward((w * x).sum())
                w.grad = None
                mean[...] = mean * 0.5 + unused

            for i in range(4):
                step(tensor([1.0, 3.0]))
            self.assertEqual(mean.tolist(), [3 * (2 - 0.5**3)])
            self.assertEqual((step.facts()["n_recorded"], step.facts()["n_runs"]), (1, 4 if symbolic else 3))

    def test_two_backwards_each_of_its_own(self):
        a, b = Parameter([1.0, 2.0]), Parameter([3.0, 1.0])
        gm = GradManager().attach([a, b])
        opt = optim.SGD([a, b], lr=0.1)

        @trace(symbolic=True)
        def step(x):
            with gm:
                first = (a * x).sum()
                gm.backward(first)
            with gm:
                second = (b * x).sum()
                gm.backward(second)
            opt.step().clear_grad()
            return first + second

        losses = [step(tensor([1.0, 3.0])).item() for _ in range(3)]
        np.testing.assert_allclose(losses, [13, 11, 9], rtol=1e-6)
        self.assertEqual((step.facts()["n_recorded"], step.facts()["n_runs"]), (1, 3))

    def test_the_step_is_planned_and_has_the_bits_of_eager(self):
        for head_of, n_recorded in ((lambda i: False, 1), (lambda i: i % 3 == 1, 2)):
            want, _ = training(lambda run: run, head_of)
            for symbolic in (False, True):
                got, step = training(trace(symbolic=symbolic), head_of)
                for a, b in zip(want, got):
                    np.testing.assert_array_equal(a, b)
                facts = step.facts()
                self.assertEqual((facts["n_recorded"], facts["refused"]), (n_recorded, None))
                self.assertEqual(facts["n_runs"], 9 if symbolic else 9 - n_recorded)

    def test_a_budget_holds(self):
        w, unused = Parameter([1.0, 2.0]), Parameter([3.0])
        gm = GradManager().attach([w, unused])

        @trace(symbolic=True, budget=1)
        def step(x):
            with gm:
                loss = (w * x).sum()
                gm.backward(loss)
            w.grad = None
            return loss

        with self.assertRaisesRegex(OverBudget, "budget of 1 byte"):
            step(tensor([1.0, 3.0]))

    def test_it_has_no_gradient(self):
        w, unused = Parameter([1.0, 2.0]), Parameter([3.0])
        gm = GradManager().attach([w, unused])

        @trace(symbolic=True)
        def step(x):
            with gm:
                gm.backward((w * x).sum())
            return w.grad

        for _ in range(3):
            w.grad = None
            self.assertEqual(step(tensor([1.0, 3.0])).tolist(), [1.0, 3.0])
            self.assertIsNone(unused.grad)

    def test_what_has_no_program_is_told_with_its_reason(self):
        w = Parameter([1.0, 2.0])

        @trace(symbolic=True, budget="1MiB")
        def step(x):
            again = mge.Tensor.__new__(mge.Tensor)
            again._share(w)  # a tensor made within the call, of a value from before it
            return again * x

        with self.assertWarnsRegex(RuntimeWarning, "so will others like it: it reads a value from before the call"):
            step(tensor([1.0, 3.0]))
        self.assertIn("that no tensor of then has", step.facts()["refused"])


if __name__ == "__main__":
    unittest.main()
