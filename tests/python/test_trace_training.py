"""Traced training: the same bits as without trace, by a program for each call after the first."""

import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager
from ebb.jit import partial_trace, trace

RNG = np.random.default_rng(19)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.drop = M.Conv2d(1, 4, 3, padding=1), M.BatchNorm2d(4), M.Dropout(0.3)
        self.fc = M.Linear(4 * 4, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
        return self.fc(self.drop(F.flatten(x, 1)))


def training(make_step, optimizer, clear_first=True, epochs=6):
    """Parameters and losses of a few steps; make_step(body) is the body, traced or not."""
    random.seed(9)
    net = Net()
    gm, opt = GradManager().attach(net.parameters()), optimizer(net.parameters())
    rng = np.random.default_rng(2)

    def body(x, y, *, net, gm, opt):
        if clear_first:
            opt.clear_grad()
        with gm:
            loss = F.loss.cross_entropy(net(x), y)
            gm.backward(loss)
        opt.step()
        if not clear_first:
            opt.clear_grad()
        return loss

    step, losses = make_step(body), []
    for n in range(epochs):
        x, y = rng.standard_normal((6, 1, 4, 4)).astype(np.float32), rng.integers(0, 3, 6).astype(np.int32)
        losses.append(step(tensor(x), tensor(y), net=net, gm=gm, opt=opt).item())
    return {**net.state_dict(), "losses": np.array(losses)}, step


class Training(unittest.TestCase):
    def test_the_same_bits_as_without_trace(self):
        for optimizer in (
            lambda p: optim.SGD(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
            lambda p: optim.Adam(p, lr=0.01), lambda p: optim.AdamW(p, lr=0.01), lambda p: optim.Adagrad(p, lr=0.1),
        ):
            for clear_first in (True, False):
                want, _ = training(lambda body: body, optimizer, clear_first)
                for symbolic in (False, True):
                    got, step = training(trace(symbolic=symbolic), optimizer, clear_first)
                    facts = step.facts()
                    self.assertEqual((facts["n_recorded"], facts["n_runs"]), (1, 5 + symbolic))
                    for name in want:
                        np.testing.assert_array_equal(got[name], want[name], name)

    def test_train_and_eval_have_recordings_of_their_own(self):
        net = Net()
        f = trace(lambda x: net(x))
        x = tensor(draw(5, 1, 4, 4))
        for _ in range(2):
            net.train()
            f(x)
            net.eval()
            np.testing.assert_array_equal(f(x).numpy(), net(x).numpy())
        facts = f.facts()
        self.assertEqual((facts["n_recordings"], facts["n_recorded"], facts["n_compared"]), (2, 2, 2))

    def test_grad_manager_made_inside(self):
        net, opt = Net(), None
        opt = optim.SGD(net.parameters(), lr=0.1)

        def body(x, y, *, net, opt):
            gm = GradManager().attach(net.parameters())
            with gm:
                loss = F.loss.cross_entropy(net(x), y)
                gm.backward(loss)
            opt.step().clear_grad()
            return loss

        f = trace(capture_as_const=True)(body)
        x, y = tensor(draw(5, 1, 4, 4)), tensor([0, 1, 2, 0, 1])
        losses = [f(x, y, net=net, opt=opt).item() for _ in range(12)]
        self.assertLess(losses[-1], losses[0])
        self.assertEqual((f.facts()["n_recorded"], f.facts()["n_runs"]), (1, 11))

    def test_gradients_that_pile_up(self):
        def run(make):
            w = Parameter([1.0, 2.0])
            gm = GradManager().attach(w)

            def body(x):
                with gm:
                    gm.backward((w * x).sum())
                return w.grad

            f = make(body)
            return [f(tensor([1.0, 3.0])).tolist() for _ in range(4)]

        want = run(lambda body: body)
        for symbolic in (False, True):
            self.assertEqual(run(trace(symbolic=symbolic)), want)

    def test_sums_of_gradients_within_a_call_are_no_results(self):
        """Only the last sum is kept: five backwards take as much as two, and what is on its way."""
        def arena(n):
            ws = [Parameter(draw(64, 64) / 8) for _ in range(3)]
            gm, opt = GradManager().attach(ws), optim.SGD(ws, lr=0.1)

            @trace(symbolic=True)
            def step(x):
                for _ in range(n):
                    with gm:
                        h = x
                        for w in ws:
                            h = F.tanh(h @ w)
                        gm.backward(h.sum())
                opt.step().clear_grad()

            step(tensor(draw(2, 64)))
            return step.plan()["arena_bytes"]

        self.assertLess(arena(5), arena(2) + 3 * 64 * 64 * 4)

    def test_a_call_that_fails_behind_the_optimizer_has_updated_nothing(self):
        for make in (trace, trace(symbolic=True)):
            w = Parameter([1.0, 2.0])
            gm, opt, fail = GradManager().attach(w), optim.Adam([w], lr=0.1), False

            def body(x):
                with gm:
                    gm.backward((w * x).sum())
                opt.step().clear_grad()
                if fail:
                    raise KeyError("mine")
                return w * 1

            f, x = make(body), tensor([1.0, -3.0])
            for _ in range(2):
                f(x)
            before, states = w.numpy(), opt.state_dict()
            for fail in (True, True):
                with self.assertRaisesRegex(KeyError, "mine"):
                    f(x)
                np.testing.assert_array_equal(w.numpy(), before)
                np.testing.assert_equal(opt.state_dict(), states)
            fail = False
            f(x)
            self.assertEqual(opt.state_dict()["state"][0]["step"], 3)

    def test_callbacks(self):
        for make in (lambda f: f, trace, trace(symbolic=True)):
            w = Parameter([2.0])
            gm = GradManager().attach(w, callbacks=[lambda t, g: g * 10])

            def body(x):
                w.grad = None
                with gm:
                    gm.backward(w * w * x)
                return w.grad

            f = make(body)
            self.assertEqual([f(tensor([a])).item() for a in (1.0, 2.0, 3.0)], [40, 80, 120])

    def test_forward_alone(self):
        net = Net()
        net.eval()
        for f in (trace(lambda x: F.softmax(net(x))), trace(symbolic=True)(lambda x: F.softmax(net(x)))):
            for _ in range(3):
                x = tensor(draw(5, 1, 4, 4))
                np.testing.assert_array_equal(f(x).numpy(), F.softmax(net(x)).numpy())


class Failing(unittest.TestCase):
    def test_a_step_that_fails_behind_its_backward_keeps_no_gradients(self):
        """Gradients that are cleared at the end: after a failure they are what they were, and the next step works."""
        for optimizer in (lambda p: optim.Adam(p, lr=0.1), lambda p: optim.SGD(p, lr=0.1)):
            for symbolic in (False, True):
                for failing in (0, 1, 2):
                    net = M.Linear(3, 2)
                    gm, opt = GradManager().attach(net.parameters()), optimizer(net.parameters())

                    @trace(symbolic=symbolic)
                    def step(x):
                        with gm:
                            loss = net(x).sum()
                            gm.backward(loss)
                        if n == failing:
                            raise KeyError("mine")
                        opt.step().clear_grad()
                        return loss

                    losses = []
                    for n in range(3):
                        try:
                            losses.append(step(tensor(np.ones((2, 3), np.float32))).item())
                        except KeyError:
                            self.assertEqual([p.grad for p in net.parameters()], [None, None])
                    self.assertEqual(len(losses), 2)
                    self.assertLess(losses[1], losses[0])
                    self.assertEqual(step.facts()["n_recorded"], 1)


class Kinds(unittest.TestCase):
    def test_partial_trace(self):
        @partial_trace(capture_as_const=True)
        def backbone(net, x):
            return net(x)

        results = []
        for forward in (backbone, lambda net, x: net(x)):
            random.seed(11)
            net, gm, data = Net(), GradManager(), np.random.default_rng(23)
            gm.attach(net.parameters())
            optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            for _ in range(4):
                x = tensor(data.standard_normal((5, 1, 4, 4)).astype(np.float32))
                with gm:
                    gm.backward((forward(net, x) ** 2).mean())
                optimizer.step().clear_grad()
            results.append([p.numpy() for p in net.parameters()])
        for planned, eager in zip(*results):
            np.testing.assert_array_equal(planned, eager)
        self.assertGreater(backbone.facts()["n_runs"], 2)


class Penalties(unittest.TestCase):
    """A step whose loss has the gradient by the image in it: traced, within a budget too, it has the bits of eager."""

    @staticmethod
    def train(wrap):
        net = M.Sequential(M.Conv2d(3, 8, 3, padding=1), M.BatchNorm2d(8), M.ReLU(), M.MaxPool2d(2),
                           M.Conv2d(8, 8, 3, padding=1), M.Sigmoid(), M.AvgPool2d(2))
        head, norm = M.Linear(32, 3), M.LayerNorm(32)
        parameters = [*net.parameters(), *head.parameters(), *norm.parameters()]
        for i, p in enumerate(parameters):
            p.set_value(np.random.default_rng(i).uniform(-0.5, 0.5, p.shape).astype(np.float32))
        opt, outer = optim.SGD(parameters, lr=0.1, momentum=0.9), GradManager().attach(parameters)

        def step(x, y):
            inner = GradManager().attach(x)
            with outer:
                with inner:
                    loss = F.loss.cross_entropy(head(norm(F.flatten(net(x), 1))), y)
                    inner.backward(loss)
                slope, x.grad = x.grad, None
                total = loss + (slope**2).sum() * 100
                outer.backward(total)
            opt.step().clear_grad()
            return total

        step, rng = wrap(step), np.random.default_rng(0)
        losses = [step(tensor(rng.standard_normal((4, 3, 8, 8), dtype=np.float32)), tensor(rng.integers(0, 3, 4))).item()
                  for _ in range(3)]
        return losses, [p.numpy().tobytes() for p in parameters], step

    def test_have_the_bits_of_eager(self):
        eager = self.train(lambda f: f)
        self.assertLess(eager[0][-1], eager[0][0])
        for options in ({}, {"symbolic": True}, {"budget": "60KiB", "effort": 2000}, {"opt_level": 0}, {"memory": "none"}):
            with self.subTest(str(options)):
                traced = self.train(trace(**options))
                self.assertEqual(traced[:2], eager[:2])
                if "budget" in options:
                    self.assertGreater(traced[2].plan()["n_recomputed"], 0)


if __name__ == "__main__":
    unittest.main()
