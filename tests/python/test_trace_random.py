"""Drawn functions, traced and not: the same bits in each call.

A function is a list of moves, each of which makes a tensor of two earlier ones: ops, assignments in place, reads,
excluded regions, branches by data. It may train two parameters, and the fourth call's arguments are one tensor.
"""

import os
import random as draws
import unittest

import numpy as np

import ebb.functional as F
import ebb.optimizer as optim
from ebb import OverBudget, Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import exclude_from_trace, trace

CALLS, PROGRAMS = 6, int(os.environ.get("EBB_TEST_PROGRAMS", 40))


def assigned(a, b, run):
    y = a + 0
    y[1, ::2] = b[0, ::2] * 2
    return y


def in_place(a, b, run):
    y = a * 1
    y += b
    return y


def excluded(a, b, run):
    with exclude_from_trace():
        run.seen.append(a.sum().item())
        return b * 2 if run.n % 3 == 0 else b + 1


def state(a, b, run):
    run.state._replace(run.state * 0.5 + a.detach() * 0.1)
    return run.state * 1


PLAIN = (
    lambda a, b, run: a + b,
    lambda a, b, run: a * b * 0.5,
    lambda a, b, run: F.tanh(a),
    lambda a, b, run: F.softmax(a, 1) - b,
    lambda a, b, run: F.relu(a),
    lambda a, b, run: a.reshape(4, 3).T.reshape(3, 4) + b.mean(),
    lambda a, b, run: F.concat([a, b], 0)[1:4],
    in_place,
)
SPECIAL = (
    assigned,
    excluded,
    state,
    lambda a, b, run: a * (run.n % 2 + 1.0),
    lambda a, b, run: F.dropout(a, 0.3),
    lambda a, b, run: a * float(np.tanh(b.mean().item())),
    lambda a, b, run: a * a if b.sum().item() > 0 else -a,
)


class Run:
    """A drawn function and what it works on."""

    def __init__(self, seed):
        draw = draws.Random(seed)
        kinds = PLAIN + tuple(move for move in SPECIAL if draw.random() < 0.4)
        self.moves = [(draw.choice(kinds), draw.random(), draw.random()) for _ in range(draw.randint(3, 14))]
        self.w = Parameter(np.linspace(-1, 1, 12).reshape(3, 4))
        self.v = Parameter(np.full(4, 0.5))
        self.state = tensor(np.zeros((3, 4)))
        self.n, self.seen = 0, []
        self.trains = draw.random() < 0.6
        self.gm = GradManager().attach([self.w, self.v])
        self.opt = draw.choice((optim.SGD, optim.Adam, optim.Adagrad))([self.w, self.v], lr=0.05)

    def values(self, x, y):
        values = [x, y, self.w, self.w * self.v, self.state]
        for move, a, b in self.moves:
            values.append(move(values[int(a * len(values))], values[int(b * len(values))], self))
        return values[-2:]

    def body(self, x, y):
        self.n += 1
        if not self.trains:
            return self.values(x, y)
        with self.gm:
            results = self.values(x, y)
            self.gm.backward((results[-1] * results[-1]).mean())
        self.opt.step()
        results.append(self.w.grad)
        self.opt.clear_grad()
        return results


def history(seed, make):
    """All that a function gives and leaves, as arrays."""
    random.seed(11)
    run, rng, arrays = Run(seed), np.random.default_rng(seed), []
    f = make(run.body)
    for n in range(CALLS):
        x = tensor(rng.standard_normal((3, 4)))
        y = x if n == 3 else tensor(rng.standard_normal((3, 4)))
        arrays += [r.numpy() for r in f(x, y) if r is not None] + [x.numpy(), y.numpy()]
    return arrays + [t.numpy() for t in (run.w, run.v, run.state)] + [np.array(run.seen)], f


class Drawn(unittest.TestCase):
    def test_the_same_bits(self):
        runs = 0
        for seed in range(PROGRAMS):
            want, _ = history(seed, lambda body: body)
            for options in ({}, {"symbolic": True}, {"symbolic": True, "memory": "none"}, {"memory": "sublinear"},
                            {"opt_level": 0}, {"symbolic": True, "opt_level": 3}):
                got, f = history(seed, trace(**options, on_mismatch="retrace"))
                self.assertEqual(len(got), len(want))
                for i, (a, b) in enumerate(zip(got, want)):
                    np.testing.assert_array_equal(a, b, f"program {seed}, {options}, array {i}")
                runs += f.facts()["n_runs"]
        self.assertGreater(runs, PROGRAMS * CALLS)  # programs did it, and not op by op

    def test_a_refused_call_draws_nothing(self):
        x, drawn = tensor(np.ones((64, 64))), []
        step = trace(lambda x: F.exp(F.dropout(x, 0.5, True)), symbolic=True, budget=1)
        for refused in (False, True):
            random.seed(5)
            if refused:
                self.assertRaises(OverBudget, step, x)
            drawn.append(F.dropout(x, 0.5, True).numpy())
        np.testing.assert_array_equal(*drawn)


if __name__ == "__main__":
    unittest.main()
