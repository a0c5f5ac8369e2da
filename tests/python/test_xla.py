"""Traces whose programs XLA runs, where a plugin is: beside the same function op by op, within rounding; and what is told
where there is none."""

import os
import unittest
import unittest.mock
import warnings

import numpy as np

import ebb.functional as F
import ebb.jit.backend as backend
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import exclude_from_trace, partial_trace, trace, xla_trace

NEAR = 1e-4  # of losses; of parameters after three steps, ten times as much as a part of the largest


def plugin_or_skip(case):
    with backend.plugins():
        here, why = backend._core.xla()
    if not here:
        case.skipTest(why)


def softmax(x):
    e = F.exp(x - x.max(axis=-1, keepdims=True).detach())
    return e / e.sum(axis=-1, keepdims=True)


class Block(M.Module):
    """A residual block as ResNet's, with its head."""

    def __init__(self):
        super().__init__()
        self.stem, self.bn0 = M.Conv2d(3, 8, 3, padding=1, bias=False), M.BatchNorm2d(8)
        self.conv1, self.bn1 = M.Conv2d(8, 8, 3, padding=1, bias=False), M.BatchNorm2d(8)
        self.conv2, self.bn2 = M.Conv2d(8, 8, 3, padding=1, bias=False), M.BatchNorm2d(8)
        self.drop, self.fc = M.Dropout(0.3), M.Linear(8, 5)
        for i, p in enumerate(self.parameters()):
            p.set_value(p.numpy() + np.random.default_rng(i).uniform(-0.2, 0.2, p.shape).astype(np.float32))

    def features(self, x):
        x = F.max_pool2d(F.relu(self.bn0(self.stem(x))), 2)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + x)

    def forward(self, x):
        return self.fc(self.drop(self.features(x).mean(axis=(2, 3))))


class Small(M.Module):
    """A net that XLA compiles soon."""

    def __init__(self):
        super().__init__()
        self.bn, self.drop, self.fc = M.BatchNorm2d(3), M.Dropout(0.3), M.Linear(3, 5)
        self.fc.weight.set_value(np.random.default_rng(4).uniform(-1, 1, (5, 3)).astype(np.float32))

    def forward(self, x):
        return self.fc(self.drop(F.relu(self.bn(x)).mean(axis=(2, 3))))


def train(wrap, sizes=(7, 7, 7), make=lambda p: optim.SGD(p, lr=0.05, momentum=0.9), part=lambda f: f, times=1, of=Small):
    """Losses, everything that training has changed, and the step."""
    random.seed(3)
    net = of()
    gm, opt, rng = GradManager().attach(net.parameters()), make(net.parameters()), np.random.default_rng(7)
    forward = part(lambda x: net(x))

    def body(x, y, *, opt):
        for _ in range(times):
            with gm:
                loss = F.loss.cross_entropy(forward(x), y)
                gm.backward(loss)
            opt.step().clear_grad()
        return loss

    step, losses = wrap(body), []
    for n in sizes:
        x, y = rng.standard_normal((n, 3, 10, 10), dtype=np.float32), rng.integers(0, 5, n)
        losses.append(step(tensor(x), tensor(y), opt=opt).item())
    return losses, net.state_dict(), step


class Compared(unittest.TestCase):
    def setUp(self):
        plugin_or_skip(self)

    def agrees(self, got, want):
        np.testing.assert_allclose(got[0], want[0], rtol=NEAR)
        for name, value in want[1].items():
            np.testing.assert_allclose(got[1][name], value, rtol=0, atol=10 * NEAR * np.abs(value).max(), err_msg=name)

    def test_a_step_with_its_optimizer(self):
        for make, options, n_runs in (
            (lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3), {"symbolic": False}, 2),
            (lambda p: optim.AdamW(p, lr=0.01), {}, 3),
        ):
            got = train(xla_trace(**options), make=make, of=Block)
            self.agrees(got, train(lambda f: f, make=make, of=Block))
            self.assertEqual(got[2].backend, "xla")
            facts = got[2].facts()
            self.assertEqual((facts["n_recorded"], facts["n_programs"], facts["n_runs"]), (1, 1, n_runs))

    def test_two_updates_in_a_call(self):
        self.agrees(train(xla_trace, times=2), train(lambda f: f, times=2))

    def test_another_shape_is_another_program(self):
        sizes = (7, 3, 7, 3)
        got = train(xla_trace, sizes)
        self.agrees(got, train(lambda f: f, sizes))
        self.assertEqual((got[2].facts()["n_recordings"], got[2].facts()["n_runs"]), (2, 4))

    def test_within_a_budget_what_is_repeated_is_not_merged(self):
        plain = train(xla_trace, (64, 64, 64), of=Block)
        plan = plain[2].plan()
        got = train(xla_trace(budget=plan["total_bytes"] - plan["arena_bytes"] * 3 // 10), (64, 64, 64), of=Block)
        self.agrees(got, plain)
        self.assertGreater(got[2].plan()["n_recomputed"], 0)
        self.assertLess(got[2].plan()["xla"]["temp_bytes"], plan["xla"]["temp_bytes"])
        self.assertGreater(plan["xla"]["alias_bytes"], 0)

    def test_dropout_draws_what_eager_draws_anew_in_each_call(self):
        drop, ones, draws = M.Dropout(0.4), tensor(np.ones(101, np.float32)), []
        for wrap in (lambda f: f, xla_trace, xla_trace(symbolic=False)):
            random.seed(5)
            f = wrap(lambda x: drop(x) * 0.6)
            draws.append([f(ones).numpy() > 0 for _ in range(3)])
        np.testing.assert_array_equal(draws[1], draws[0])
        np.testing.assert_array_equal(draws[2], draws[0])
        self.assertTrue((draws[0][0] != draws[0][1]).any() and (draws[0][1] != draws[0][2]).any())

    def test_training_and_evaluation(self):
        net = Small()
        f = xla_trace(lambda x: net(x))
        x = tensor(np.random.default_rng(1).standard_normal((4, 3, 10, 10), dtype=np.float32))
        for _ in range(2):
            net.train()
            f(x)
            net.eval()
            np.testing.assert_allclose(f(x).numpy(), net(x).numpy(), rtol=NEAR, atol=1e-6)

    def test_forward_and_backward_as_two_programs_with_eager_ops_between(self):
        parts = []

        def part(f):
            parts.append(partial_trace(f, backend="xla", capture_as_const=True))
            return parts[-1]

        def twice(f):
            return lambda x: f(x) * 2 - F.relu(f(x * 0.5))

        for between in (lambda f: f, twice):
            got, want = train(lambda f: f, part=lambda f: between(part(f))), train(lambda f: f, part=between)
            self.agrees(got, want)
            forward, runs = parts[-1], 6 if between is twice else 3
            self.assertEqual((forward.backend, forward.backward.backend), ("xla", "xla"))
            self.assertEqual((forward.facts()["n_runs"], forward.backward.facts()["n_runs"]), (runs, runs))
            self.assertGreater(forward.backward.plan()["xla"]["arguments_bytes"], 0)

    def test_what_is_read_inside_and_what_is_excluded(self):
        w = Parameter(np.arange(1, 4, dtype=np.float32))

        def body(x, n):
            y = x * w
            if y.sum().item() > 0:  # a program ends here
                y = y + 1
            with exclude_from_trace():
                y = y * n
            w._reset(w * 0.5)
            return y / 4

        found = []
        for wrap in (lambda f: f, xla_trace):
            w._reset(tensor(np.arange(1, 4, dtype=np.float32)))
            f = wrap(body)
            found.append([f(tensor(np.float32([1, 2, -n]) + 3), n).numpy() for n in (1, 1, 1)] + [w.numpy()])
        np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
        self.assertEqual(f.facts()["n_programs"], 3)

    def test_what_somebody_holds_stays_as_it_was(self):
        x = Parameter(np.float32([1, 2, 3]))

        @xla_trace
        def step(by):
            x._reset(x * by)
            return x.sum()

        for by in (2.0, 3.0, 0.5):
            held, before = x.detach(), x.numpy()
            self.assertAlmostEqual(step(tensor(by)).item(), by * before.sum(), 4)
            np.testing.assert_array_equal(held.numpy(), before)
            np.testing.assert_array_equal(x.numpy(), before * np.float32(by))

    def test_a_call_that_fails_has_updated_nothing(self):
        w, fail = Parameter([1.0, 2.0]), False
        gm, opt = GradManager().attach(w), optim.Adam([w], lr=0.1)

        @xla_trace
        def step(x):
            with gm:
                gm.backward((w * x).sum())
            opt.step().clear_grad()
            if fail:
                raise KeyError("mine")
            return w * 1

        for fail in (False, True, False):
            before = w.numpy()
            try:
                step(tensor([1.0, -3.0]))
            except KeyError:
                np.testing.assert_array_equal(w.numpy(), before)
        self.assertEqual(opt.state_dict()["state"][0]["step"], 2)

    def test_what_xla_cannot_serve_is_one_line(self):
        turn = [False]
        f = xla_trace(lambda x: F.exp(x) if turn[0] else x * 2)
        f(tensor(1.0))
        turn[0] = True
        with self.assertRaisesRegex(RuntimeError, "^trace error because"):
            f(tensor(1.0))
        with self.assertRaisesRegex(ValueError, "^backend xla: ops have no times of their own there: leave profiling out$"):
            xla_trace(softmax, profiling=True)(tensor([[1.0]]))
        w = Parameter([1.0, 2.0])
        gm = GradManager().attach(w)
        for symbolic in (True, False):
            w.grad, f = None, xla_trace(lambda y: gm.backward(y) or w.grad, symbolic=symbolic)
            with gm, self.assertRaisesRegex(RuntimeError, "^backend xla: no program can be made of this call: it reads a value "):
                f((F.exp(w) ** 2).sum())


class Told(unittest.TestCase):
    WHY = "backend xla: no PJRT plugin is here"

    def without(self):
        env = {name: value for name, value in os.environ.items() if name != "EBB_PJRT_PLUGIN"}
        backend._told = False
        self.enterContext(unittest.mock.patch.dict(os.environ, env, clear=True))
        self.enterContext(unittest.mock.patch.object(backend._core, "xla", lambda: (False, self.WHY)))

    def test_without_a_plugin_our_own_kernels_run_it_and_a_warning_says_so_once(self):
        self.without()
        x = np.random.default_rng(1).standard_normal((3, 4), dtype=np.float32)
        f, part = xla_trace(softmax), partial_trace(softmax, backend="xla", capture_as_const=True)
        with self.assertWarnsRegex(UserWarning, f"^xla_trace runs on Ebb's own kernels: {self.WHY}$"):
            got = f(tensor(x)).numpy()
        np.testing.assert_array_equal(got, softmax(tensor(x)).numpy())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(part(tensor(x)).numpy(), got)
            f(tensor(x))
        self.assertEqual([f.backend, part.backend, part.backward.backend], ["own"] * 3)
        self.assertNotIn("xla", f.plan())

    def test_a_plugin_that_is_named_is_not_passed_over(self):
        with unittest.mock.patch.dict(os.environ, EBB_PJRT_PLUGIN="/nowhere.so"):
            for f in (xla_trace(softmax), trace(softmax, backend="xla"), partial_trace(softmax, backend="xla")):
                for _ in range(2):
                    with self.assertRaisesRegex(RuntimeError, "^backend xla: EBB_PJRT_PLUGIN is /nowhere.so, which cannot be read"):
                        f(tensor([[1.0]]))

    def test_a_backend_that_is_asked_for_is_not_passed_over(self):
        plugin = {"EBB_PJRT_PLUGIN": "", "HOME": "/nowhere", "VIRTUAL_ENV": "/nowhere"}
        with unittest.mock.patch.dict(os.environ, plugin):
            if backend._core.xla()[0]:
                self.skipTest("a plugin is installed for the whole machine")
            for f in (trace(softmax, backend="xla"), xla_trace(softmax, backend="xla")):
                with self.assertRaisesRegex(RuntimeError, f"^{self.WHY}: pip install"):
                    f(tensor([[1.0]]))

    def test_other_backends(self):
        for make, known in ((trace, "own or xla"), (xla_trace, "own or xla"), (partial_trace, "default or xla")):
            with self.assertRaisesRegex(ValueError, f"backend 'tvm': {known}"):
                make(softmax, backend="tvm")
        self.assertEqual((trace(softmax).backend, xla_trace(softmax, backend="own").backend), ("own", "own"))


if __name__ == "__main__":
    unittest.main()
