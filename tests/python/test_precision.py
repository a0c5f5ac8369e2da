"""float16 and bfloat16: tensors, operators, autocast, GradScaler."""

import io
import operator
import pickle
import unittest

import ml_dtypes
import numpy as np

import ebb.amp as amp
import ebb.functional as F
import ebb.module as M
import ebb.optimizer as optim
from ebb import Parameter, _core, _dtype, tensor
from ebb.autodiff import GradManager
from ebb.jit import load, trace

NUMBERS = [0.0, -0.0, 1.5, -2.25, 65504.0, 6e-8, 6.1e-5, np.inf, -np.inf, np.nan, 1 / 3]
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class Draws(unittest.TestCase):
    def test_uniform_stays_below_its_end_when_it_is_rounded(self):
        draw = _core.op("uniform")
        for name, dtype in {**DTYPES, "float32": np.float32}.items():
            for low, high in ((0.0, 1.0), (1.0, 2.0), (-3.0, -1.0), (-1.0, 0.0), (0.0, 1e-4), (2.0, 2.0)):
                with self.subTest(name, low=low, high=high):
                    x = draw(shape=[65536], dtype=_dtype.element_of(np.dtype(dtype)), low=low, high=high).numpy().astype(np.float64)
                    self.assertTrue(np.isfinite(x).all())
                    rounded = np.float64(np.array(low).astype(dtype))
                    self.assertGreaterEqual(x.min(), min(low, rounded))
                    self.assertTrue(x.max() < high or low == high == x.max(), f"{x.max()!r}")
                    self.assertAlmostEqual(x.mean() / (high or 1), (low + high) / 2 / (high or 1), delta=0.01)


class Tensors(unittest.TestCase):
    def test_come_in_and_go_out(self):
        for name, dtype in DTYPES.items():
            with self.subTest(name):
                array = np.array(NUMBERS, np.float32).astype(dtype)
                for x in (tensor(array), tensor(np.array(NUMBERS, np.float32), dtype=name),
                          tensor(np.array(NUMBERS, np.float32)).astype(name)):
                    self.assertEqual(x.dtype, np.dtype(dtype))
                    self.assertEqual(x.dtype, name)
                    self.assertEqual(x.numpy().dtype, np.dtype(dtype))
                    for got in x.numpy(), np.asarray(x):  # of a NaN, a device keeps that it is one
                        none = np.isnan(array.astype(np.float32))
                        self.assertEqual(np.isnan(got.astype(np.float32)).tolist(), none.tolist())
                        self.assertEqual(got.view(np.uint16)[~none].tolist(), array.view(np.uint16)[~none].tolist())
                for i, number in enumerate(array.astype(np.float64)):
                    np.testing.assert_equal(x[i].item(), number)
                self.assertIn(f"dtype={name}", repr(x))

    def test_promotion(self):
        one = {d: tensor([1.0]).astype(d) for d in ("float16", "bfloat16", "float32", "int32", "bool")}
        for a, b, due in (("float16", "float16", "float16"), ("float16", "bfloat16", "float32"),
                          ("bfloat16", "float32", "float32"), ("float16", "int32", "float16"),
                          ("bool", "bfloat16", "bfloat16")):
            with self.subTest(f"{a} {b}"):
                self.assertEqual((one[a] + one[b]).dtype, due)
                self.assertEqual(F.concat([one[a], one[b]]).dtype, due)
        for number in (2, 0.5, True):
            self.assertEqual((one["float16"] * number).dtype, "float16")
            self.assertEqual((number - one["bfloat16"]).dtype, "bfloat16")

    def test_each_result_is_rounded_once(self):
        rng = np.random.default_rng(1)
        a, b = (rng.uniform(-4, 4, 1000).astype(np.float16) for _ in range(2))
        for op in (operator.add, operator.sub, operator.mul, operator.truediv):
            self.assertTrue((op(tensor(a), tensor(b)).numpy() == op(a, b)).all())

    def test_layers(self):
        for name in DTYPES:
            x = tensor(np.random.default_rng(1).uniform(-1, 1, (2, 4, 6, 6)).astype(np.float32))
            y = M.Conv2d(4, 8, 3, bias=False)
            y.weight.set_value(y.weight.astype(name))
            low = y(x.astype(name))
            self.assertEqual(low.dtype, name)
            y.weight.set_value(y.weight.astype("float32"))
            np.testing.assert_allclose(low.astype("float32").numpy(), y(x).numpy(), atol=0.03)


class Files(unittest.TestCase):
    def test_of_models_in_16_bits_run(self):
        for name in DTYPES:
            net = M.Sequential(M.Linear(4, 3), M.ReLU(), M.Linear(3, 2))
            for p in net.parameters():
                p.set_value(p.astype(name))
            f = trace(symbolic=True, capture_as_const=True)(lambda x, net=net: net(x))
            x = tensor(np.random.default_rng(2).standard_normal((5, 4), dtype=np.float32)).astype(name)
            y, file = f(x), io.BytesIO()
            f.dump(file)
            file.seek(0)
            z = load(file)(x)
            self.assertEqual((y.dtype, z.dtype), (name, name))
            self.assertEqual(z.numpy().tobytes(), y.numpy().tobytes())
            again = pickle.loads(pickle.dumps(x))
            self.assertEqual((again.dtype, again.numpy().tobytes()), (name, x.numpy().tobytes()))

    def test_parameters_in_16_bits_are_updated(self):
        for name in DTYPES:
            for make in (lambda p: optim.SGD(p, lr=0.25, momentum=0.9), lambda p: optim.Adam(p, lr=0.25)):
                w = Parameter(np.ones(3, np.float32), dtype=name)
                opt, gm = make([w]), GradManager().attach(w)
                with gm:
                    gm.backward((w * 2).sum())
                opt.step()
                self.assertEqual(w.dtype, name)
                self.assertAlmostEqual(w[0].item(), 0.5 if isinstance(opt, optim.SGD) else 0.75, 2)


class Bytes(unittest.TestCase):
    def test_elements_that_are_none_are_refused(self):
        for to in (-1, len(_dtype.DTYPES), 99, 2**40):
            with self.assertRaises(ValueError):
                _core.op("cast")(tensor([1.0]), to=to)

    def test_uint8_becomes_numbers(self):
        x = tensor(np.array([0, 1, 200, 255], np.uint8), dtype="uint8")
        self.assertEqual(x.astype("float32").tolist(), [0, 1, 200, 255])
        self.assertEqual(x.astype("int32").tolist(), [0, 1, 200, 255])
        self.assertEqual(x.astype("bool").tolist(), [False, True, True, True])


class Autocast(unittest.TestCase):
    def test_products_are_low_and_sums_are_high(self):
        x, w = tensor(np.ones((2, 3), np.float32)), tensor(np.ones((4, 3), np.float32))
        image, kernel = tensor(np.ones((1, 2, 5, 5), np.float32)), tensor(np.ones((3, 2, 3, 3), np.float32))
        for low in DTYPES:
            with amp.autocast(low_prec_dtype=low):
                self.assertTrue(amp.enabled)
                for y in (F.linear(x, w), F.matmul(x, w.T), x @ w.T, F.conv2d(image, kernel),
                          F.conv_transpose2d(image, kernel.transpose(1, 0, 2, 3)), F.relu(F.linear(x, w))):
                    self.assertEqual(y.dtype, low)
                y = F.linear(x, w)
                for z in (F.exp(y), F.log(y), F.softmax(y, 1), F.sum(y), y.mean(), F.logsumexp(y, 1),
                          F.loss.cross_entropy(y, tensor([0, 1])), F.loss.square_loss(y, y)):
                    self.assertEqual(z.dtype, "float32")
                with amp.autocast(enabled=False):
                    self.assertEqual(F.linear(x, w).dtype, "float32")
                self.assertEqual(F.linear(x, w).dtype, low)
            self.assertFalse(amp.enabled)
            self.assertEqual(F.linear(x, w).dtype, "float32")

    def test_is_a_decorator_and_ends_with_an_exception(self):
        @amp.autocast()
        def product(x):
            return F.matmul(x, x)

        x = tensor(np.ones((2, 2), np.float32))
        self.assertEqual(product(x).dtype, "float16")
        with self.assertRaises(ZeroDivisionError), amp.autocast():
            1 // 0
        self.assertEqual(F.matmul(x, x).dtype, "float32")
        amp.enabled = True
        self.assertEqual(F.matmul(x, x).dtype, "float16")
        amp.enabled = False
        for wrong in ({"low_prec_dtype": "int32"}, {"high_prec_dtype": "float64"}):
            with self.assertRaisesRegex(ValueError, "autocast: "):
                amp.autocast(**wrong)

    def test_has_recordings_of_its_own(self):
        f, x = trace(lambda x: F.matmul(x, x)), tensor(np.ones((3, 3)))
        for _ in range(2):
            self.assertEqual(f(x).dtype, np.float32)
            for low in ("float16", "bfloat16"):
                with amp.autocast(low_prec_dtype=low):
                    self.assertEqual(f(x).dtype, F.matmul(x, x).dtype)
        self.assertEqual(f.facts()["n_recordings"], 3)

    def test_trains_to_the_same_bits_traced(self):
        rng = np.random.default_rng(3)
        images = rng.standard_normal((4, 8, 3, 8, 8), dtype=np.float32)
        labels = rng.integers(0, 4, (4, 8))

        def train(wrap, low):
            net = M.Sequential(M.Conv2d(3, 4, 3, padding=1), M.BatchNorm2d(4), M.ReLU(), M.AvgPool2d(8))
            head = M.Linear(4, 4)
            for i, p in enumerate([*net.parameters(), *head.parameters()]):
                p.set_value(np.random.default_rng(i).standard_normal(p.shape, dtype=np.float32))
            gm = GradManager().attach([*net.parameters(), *head.parameters()])
            opt = optim.SGD([*net.parameters(), *head.parameters()], lr=0.05, momentum=0.9)

            def step(x, y):
                with gm:
                    with amp.autocast(low is not None, low_prec_dtype=low or "float16"):
                        loss = F.loss.cross_entropy(head(F.flatten(net(x), 1)), y)
                    gm.backward(loss)
                opt.step().clear_grad()
                return loss

            step = wrap(step)
            losses = [step(tensor(x), tensor(y)).item() for x, y in zip(images, labels)]
            return losses, [p.numpy() for p in net.parameters()]

        for low in DTYPES:
            plain, traced = train(lambda f: f, low), train(trace(symbolic=True), low)
            self.assertEqual(plain[0], traced[0])
            for a, b in zip(plain[1], traced[1]):
                self.assertTrue((a == b).all())
            full = train(lambda f: f, None)
            np.testing.assert_allclose(plain[0], full[0], rtol=0.05)


class Scaler(unittest.TestCase):
    @staticmethod
    def run_once(scaler, factor):
        w = Parameter(np.ones(3, np.float32))
        gm = GradManager().attach(w)
        with gm:
            scaler.backward(gm, (w * tensor(np.float32(factor))).sum())
        return w.grad

    def test_gradients_are_what_they_are_without_it(self):
        for scale in (1.0, 16.0, 2.0**20):
            np.testing.assert_array_equal(self.run_once(amp.GradScaler(scale), 0.3).numpy(),
                                          np.full(3, 0.3, np.float32))

    def test_the_scale_falls_and_grows(self):
        scaler = amp.GradScaler(8.0, growth_factor=4.0, backoff_factor=0.25, growth_interval=2)
        self.assertIsNone(self.run_once(scaler, np.inf))
        self.assertEqual(scaler.scale_factor, 2.0)
        for due in (2.0, 8.0, 8.0, 32.0):
            self.assertIsNotNone(self.run_once(scaler, 1.0))
            self.assertEqual(scaler.scale_factor, due)
        fixed = amp.GradScaler(8.0, growth_interval=0)
        self.assertIsNone(self.run_once(fixed, np.nan))
        self.assertEqual(fixed.scale_factor, 8.0)
        fixed.update(4.0)
        self.assertEqual(fixed.scale_factor, 4.0)

    def test_in_parts(self):
        scaler, w = amp.GradScaler(64.0), Parameter(np.ones(3, np.float32))
        gm = GradManager().attach(w)
        with gm:
            scaler.backward(gm, w.sum(), unscale_grad=False)
        self.assertEqual(w.grad.tolist(), [64.0] * 3)
        scaler.unscale(gm.attached_tensors())
        scaler.update()
        self.assertEqual(w.grad.tolist(), [1.0] * 3)
        other = amp.GradScaler()
        other.load_state_dict(scaler.state_dict())
        self.assertEqual(other.state_dict(), scaler.state_dict())
        with gm, self.assertRaisesRegex(ValueError, "1 tensors and 2 gradients"):
            scaler.backward(gm, w.sum(), [None, None])

    def test_traced_to_the_same_bits(self):
        def train(wrap):
            w = Parameter(np.linspace(-1, 1, 6, dtype=np.float32))
            gm, opt, scaler = GradManager().attach(w), optim.SGD([w], lr=0.1), amp.GradScaler(1024.0, growth_interval=2)

            def step(x):
                with gm:
                    y = ((w * x) ** 2).sum()
                    scaler.backward(gm, y)
                opt.step().clear_grad()
                return y

            step = wrap(step)
            given = [1.0, 2.0, np.inf, 3.0, 4.0]
            return [step(tensor(np.float32(g))).item() for g in given], w.numpy().tolist(), scaler.scale_factor

        self.assertEqual(train(lambda f: f), train(trace))
        self.assertEqual(train(lambda f: f), train(trace(symbolic=True)))


if __name__ == "__main__":
    unittest.main()
