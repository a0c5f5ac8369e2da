"""partial_trace: forward and backward planned, what is between and behind them eager."""

import contextlib
import io
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, random, tensor
from ebb.autodiff import Function, GradManager
from ebb.jit import partial_trace, trace


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(3, 4, 3, padding=1)
        self.bn = M.BatchNorm2d(4)
        self.pool = M.MaxPool2d(2)
        self.drop = M.Dropout(0.25)
        self.fc = M.Linear(64, 5)
        for i, p in enumerate(self.parameters()):
            p.set_value(np.random.default_rng(i).uniform(-0.5, 0.5, p.shape).astype(np.float32))

    def forward(self, x):
        x = self.pool(F.relu(self.bn(self.conv(x))))
        return self.fc(self.drop(F.flatten(x, 1)))


def batches(n, size=6):
    rng = np.random.default_rng(7)
    return [(tensor(rng.standard_normal((size, 3, 8, 8), dtype=np.float32)), tensor(rng.integers(0, 5, size)))
            for _ in range(n)]


def train(wrap, steps=6, of_step=lambda net, forward, x: forward(x)):
    """Losses, and everything that training has changed."""
    random.seed(3)
    net = Net()
    forward = wrap(lambda x: net(x))
    gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for x, y in batches(steps):
        with gm:
            logits = of_step(net, forward, x)
            loss = F.loss.cross_entropy(logits, y)
            gm.backward(loss)
        opt.step().clear_grad()
        losses.append(loss.item())
    return losses, [t.numpy().tobytes() for t in net.tensors()], forward


class Partial(unittest.TestCase):
    def same(self, of_step=lambda net, forward, x: forward(x), **options):
        eager = train(lambda f: f, of_step=of_step)
        partial = train(lambda f: partial_trace(f, **options), of_step=of_step)
        self.assertEqual(eager[:2], partial[:2])
        return partial[2]

    def test_has_the_bits_of_eager(self):
        forward = self.same()
        self.assertEqual(forward.facts()["n_recorded"], 1)
        backward = forward.backward.facts()
        self.assertEqual((backward["n_recorded"], backward["n_compared"], backward["n_programs"]), (1, 5, 1))
        self.assertEqual(backward["n_runs"], 6)
        self.assertGreater(forward.backward.plan()["n_steps"], 5)
        self.assertIn("conv2d_wgrad", forward.backward.text())

    def test_not_symbolic_in_place_or_within_a_budget(self):
        self.same(symbolic=False)
        self.same(memory="none")
        forward = self.same(budget="1MiB")
        self.assertLessEqual(forward.backward.plan()["total_bytes"], 2**20)

    def test_called_twice_in_a_step(self):
        self.same(lambda net, forward, x: forward(x) + forward(x * 0.5))

    def test_eager_before_between_and_behind(self):
        def step(net, forward, x):
            x = x * (net.fc.bias.sum() + 1)  # the input has a gradient
            return forward(F.relu(forward(x).mean() + x)) * 2

        forward = self.same(step)
        self.assertEqual(forward.backward.facts()["n_runs"], 12)

    def test_sums_of_gradients_have_the_order_of_eager(self):
        """Parts of a weight's gradient from eager ops before, between and behind two planned calls, one of which
        goes around the other."""
        def step(net, forward, x):
            weights = sum((p * p).sum() for p in net.parameters()) * 0.01
            first = forward(x)
            beside = F.linear(F.flatten(x, 1)[:, :64], net.fc.weight, net.fc.bias)
            between = first.mean() + x * net.conv.bias.sum()
            again = forward(F.relu(between))
            behind = sum((p * 0.5).sum() for p in net.parameters())
            return again + beside + first + weights * behind

        forward = self.same(step)
        self.assertEqual(forward.backward.facts()["n_programs"], 1)
        self.assertEqual(forward.backward.facts()["n_runs"], 12)

    def test_what_is_attached_on_the_way(self):
        w = Parameter([2.0, 3.0])
        part = partial_trace(lambda x: x * w)
        for f in (part, lambda x: x * w):
            gm = GradManager().attach(w)
            with gm:
                x = f(w)
                gm.attach(x)
                y = f(x * 2) + x
                gm.backward(y.sum())
            self.assertEqual((w.grad.tolist(), x.grad.tolist()), ([28.0, 60.0], [5.0, 7.0]))
            w.grad = None

    def test_other_results(self):
        """A tuple and a dict, an input that is given back, what nobody asks for, whole numbers."""
        def run(wrap):
            w = Parameter(np.arange(1, 4, dtype=np.float32))

            @wrap
            def parts(x, scale=2.0):
                y = x * w * scale
                return {"y": (y, x), "place": F.argmax(y), "free": F.exp(w), "none": None}

            found = []
            for n in range(3):
                gm = GradManager().attach(w)
                with gm:
                    x = w + float(n)
                    got = parts(x, scale=3.0)
                    gm.backward((got["y"][0] * got["y"][1]).sum())
                found.append((w.grad.tolist(), int(got["place"]), got["none"], got["free"].tolist()))
            return found

        self.assertEqual(run(lambda f: f), run(partial_trace))

    def test_a_parameter_that_is_an_argument_too(self):
        w = Parameter([2.0, 3.0])
        f = partial_trace(lambda x: (x * w).sum())
        gm = GradManager().attach(w)
        for _ in range(2):
            with gm:
                gm.backward(f(w))
            self.assertEqual(w.grad.tolist(), [4.0, 6.0])
            w.grad = None

    def test_without_a_manager_and_within_a_trace(self):
        net = Net()
        net.eval()
        part = partial_trace(lambda x: net(x))
        x = batches(1)[0][0]
        eager = net(x).numpy()
        self.assertTrue((part(x).numpy() == eager).all())
        whole = trace(symbolic=True)(lambda x: part(x) * 2)
        self.assertTrue((whole(x).numpy() == eager * 2).all())
        self.assertEqual(whole.facts()["n_programs"], 1)

    def test_within_a_function_that_has_its_own_gradient(self):
        w = Parameter([2.0, 3.0])
        part = partial_trace(lambda x: x * w)

        class Twice(Function):
            def forward(self, x):
                return part(x) + x * w

            def backward(self, dy):
                return dy * 10

        gm = GradManager().attach(w)
        for _ in range(2):
            with gm:
                gm.backward((Twice()(w * 1.0) + w).sum())
            self.assertEqual(w.grad.tolist(), [11.0, 11.0])
            w.grad = None

    def test_a_function_with_its_own_gradient_within_is_refused(self):
        class Ten(Function):
            def forward(self, x):
                return x * 1.0

            def backward(self, dy):
                return dy * 10

        w = Parameter([2.0, 3.0])
        part = partial_trace(lambda x: (Ten()(x) * w).sum())
        gm = GradManager().attach(w)
        for _ in range(2):
            with gm, self.assertRaisesRegex(RuntimeError, "^Ten: a gradient of its own .* outside of partial_trace$"):
                part(w * 1.0)
        self.assertEqual(part(tensor([1.0, 1.0])).item(), 5.0)  # nobody asks for gradients
        with gm:
            gm.backward(Ten()(w).sum())
        self.assertEqual(w.grad.tolist(), [10.0, 10.0])

    def test_gradients_of_gradients(self):
        x, w = tensor([1.0, 2.0]), Parameter([3.0, 4.0])
        f = partial_trace(lambda x: (x * x * x * w).sum())
        for _ in range(2):
            outer, inner = GradManager().attach(w), GradManager().attach(x)
            with outer:
                with inner:
                    inner.backward(f(x))
                outer.backward((x.grad ** 2).sum())
            self.assertEqual(w.grad.tolist(), [54.0, 1152.0])
            w.grad = x.grad = None

    def test_a_backward_that_fails_leaves_it_usable(self):
        w = Parameter([2.0])
        f = partial_trace(lambda x: x * w)
        gm = GradManager().attach(w)
        caught = []
        for _ in range(3):
            with self.assertRaises(ValueError) as error, gm:
                gm.backward(f(tensor([1.0])), tensor([1.0, 2.0]))
            caught.append(error.exception)  # and what its traceback holds
            with gm:
                gm.backward(f(tensor([3.0])))
            self.assertEqual(w.grad.tolist(), [3.0])
            w.grad = None
        del caught

    def test_what_fits_is_not_asked_of_a_part(self):
        f = partial_trace(lambda x: x * 2)
        with self.assertRaisesRegex(ValueError, "trace the whole step"):
            f.fit(lambda n: (tensor(np.ones(n, np.float32)),), "1MiB")

    def test_progress_of_both_halves_is_told(self):
        w = Parameter(np.ones((8, 8), np.float32))
        f = partial_trace(lambda x: F.sin(F.sin(F.exp(x) @ w) @ w), memory="sublinear", progress=True)
        gm = GradManager().attach(w)
        with gm, contextlib.redirect_stderr(io.StringIO()) as shown:
            y = f(tensor(np.ones((64, 8), np.float32)))
            forward = len(shown.getvalue())
            gm.backward(y)
        self.assertGreater(len(shown.getvalue()), forward)
        self.assertTrue(shown.getvalue().endswith("\n"), shown.getvalue()[-80:])

    def test_failures_leave_it_usable(self):
        w = Parameter([2.0])
        fails = []

        @partial_trace
        def f(x):
            y = x * w
            if fails:
                raise KeyError(fails.pop())
            return y

        gm = GradManager().attach(w)
        for n in range(4):
            if n == 2:
                fails.append("planted")
                with self.assertRaises(KeyError), gm:
                    f(tensor([1.0]))
            with gm:
                y = f(tensor([float(n)]))
                if n == 1:
                    with self.assertRaises(ValueError):
                        gm.backward(y, [tensor([1.0]), tensor([1.0])])
                    continue
                gm.backward(y)
            self.assertEqual(w.grad.tolist(), [float(n)])
            w.grad = None


if __name__ == "__main__":
    unittest.main()
