"""Gradients that are added up over several traced calls, and used by another: planned, within the budget, with the bits of
ops run one by one."""

import unittest
import warnings

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import Parameter, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace
from ebb.optimizer import SGD, Adam, clip_grad_norm


def network(seed=0):
    rng = np.random.default_rng(seed)
    net = M.Sequential(M.Linear(12, 48), M.BatchNorm1d(48), M.ReLU(), M.Linear(48, 48), M.ReLU(), M.Linear(48, 5))
    for p in net.parameters():
        p.set_value((rng.standard_normal(p.shape) * 0.2).astype(np.float32))
    return net


class Training:
    """micro() adds gradients up, update() uses them: as they are, or as two traced functions."""

    def __init__(self, wrap_micro=None, wrap_update=None, optimizer=SGD, clip=False, **options):
        self.net = network()
        gm = GradManager().attach(self.net.parameters())
        opt = optimizer(self.net.parameters(), lr=0.05, **options)

        def micro(x, y):
            with gm:
                loss = F.cross_entropy(self.net(x), y) * 0.25
                gm.backward(loss)
            return loss

        def update():
            norm = clip_grad_norm(self.net.parameters(), 0.5) if clip else None
            opt.step().clear_grad()
            return norm

        self.micro = wrap_micro(micro) if wrap_micro else micro
        self.update = wrap_update(update) if wrap_update else update
        self.rng = np.random.default_rng(7)

    def batch(self, n=64):
        x = self.rng.standard_normal((n, 12)).astype(np.float32)
        return tensor(x), tensor(self.rng.integers(0, 5, n).astype(np.int32))

    def run(self, n_steps=4, n_micro=3):
        losses = []
        for _ in range(n_steps):
            losses += [self.micro(*self.batch()).item() for _ in range(n_micro)]
            self.update()
        return losses

    def state(self):
        return {k: np.array(v) for k, v in self.net.state_dict().items()}


class Accumulation(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name], name)

    def test_each_call_is_a_program_and_has_the_bits_of_eager_ones(self):
        for options in ({}, {"clip": True, "momentum": 0.9}, {"optimizer": Adam}):
            plain = Training(**options)
            want = plain.run()
            for symbolic in (True, False):
                traced = Training(*[lambda f: trace(f, symbolic=symbolic)] * 2, **options)  # noqa: B023
                self.assertEqual(traced.run(), want)
                self.same(traced.state(), plain.state())
                # Without gradients, and upon gradients; the update, whose optimizer has states from its second call on.
                micro, update = traced.micro.facts(), traced.update.facts()
                self.assertEqual((micro["n_recorded"], micro["n_runs"]), (2, 12 if symbolic else 10), options)
                self.assertEqual(update["n_recorded"], 1, options)

    def test_it_stays_within_the_budget(self):
        plain = Training()
        want = plain.run()
        whole = Training(lambda f: trace(f, symbolic=True))
        whole.micro(*whole.batch())
        first = whole.micro.plan()
        whole.micro(*whole.batch())
        second = whole.micro.plan()
        gradients = sum(p.numpy().nbytes for p in whole.net.parameters())
        self.assertGreaterEqual(second["persistent_bytes"] - first["persistent_bytes"], gradients)  # those that are there
        budget = int(second["total_bytes"] - 0.15 * second["arena_bytes"])
        traced = Training(lambda f: trace(f, symbolic=True, budget=budget))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(traced.run(), want)
        self.same(traced.state(), plain.state())
        self.assertLessEqual(traced.micro.plan()["total_bytes"], budget)
        self.assertGreater(traced.micro.plan()["n_recomputed"], 0)
        self.assertEqual(traced.micro.facts()["n_runs"], 12)

    def test_the_gradient_stays_the_same_tensor(self):
        for wrap in (None, lambda f: trace(f, symbolic=True), trace):
            t = Training(wrap)
            p = next(iter(t.net.parameters()))
            t.micro(*t.batch())
            gradient = p.grad
            before = gradient.numpy()
            t.micro(*t.batch())
            self.assertIs(p.grad, gradient)
            self.assertTrue(np.any(gradient.numpy() != before))
            p.grad = None
            t.micro(*t.batch())
            self.assertIsNot(p.grad, gradient)

    def test_a_call_that_fails_takes_back_what_it_added(self):
        w = Parameter(np.arange(3, dtype=np.float32))
        gm, fails = GradManager().attach(w), []

        @trace(symbolic=True)
        def step(x):
            with gm:
                gm.backward((w * x).sum())
            if fails:
                raise RuntimeError("planted")

        x = tensor(np.ones(3, np.float32))
        for i in range(4):
            step(x)
            fails.append(1)
            with self.assertRaisesRegex(RuntimeError, "planted"):
                step(x)
            fails.clear()
            np.testing.assert_array_equal(w.grad.numpy(), np.full(3, i + 1, np.float32))

    def test_an_argument_may_have_gradients(self):
        gm = GradManager()

        @trace(symbolic=True)
        def step(x):
            gm.attach(x)
            with gm:
                gm.backward((x * x).sum())

        for i in range(1, 4):
            x = tensor(np.full(3, i, np.float32))
            for k in range(1, 4):
                step(x)
                np.testing.assert_array_equal(x.grad.numpy(), np.full(3, 2 * i * k, np.float32))
        self.assertEqual(step.facts()["n_recordings"], 2)
        self.assertEqual(step.facts()["n_runs"], 9)

    def test_any_course_of_calls_has_the_bits_of_eager_ones(self):
        rng = np.random.default_rng(11)
        for seed in range(12):
            acts = [("micro", "micro", "micro", "update", "clear", "zero", "halve", "one")[i] for i in rng.integers(0, 8, 40)]
            seen = []
            for wrap in (None, lambda f: trace(f, symbolic=True), lambda f: trace(f, on_mismatch="retrace")):
                t, told = Training(wrap, wrap), []
                parameters = list(t.net.parameters())
                for act in acts:
                    if act == "micro":
                        told.append(t.micro(*t.batch()).item())
                    elif act == "update":
                        t.update()
                    elif act == "clear":
                        for p in parameters:
                            p.grad = None
                    elif act == "zero":
                        t.net.zero_grad()
                    elif act == "one":
                        parameters[2].grad = None
                    else:
                        for p in parameters:
                            if p.grad is not None:
                                p.grad *= 0.5
                told += [p.grad is not None and p.grad.numpy().tobytes() for p in parameters]
                seen.append((told, {k: v.tobytes() for k, v in t.state().items()}))
            self.assertEqual(seen[0], seen[1], seed)
            self.assertEqual(seen[0], seen[2], seed)


if __name__ == "__main__":
    unittest.main()
