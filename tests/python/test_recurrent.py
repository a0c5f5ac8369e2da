"""Recurrent layers and attention, against NumPy; random draws."""

import unittest

import numpy as np

import ebb.module as M
from ebb import random, tensor
from ebb.autodiff import GradManager
from ebb.jit import trace

RNG = np.random.default_rng(12)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def parts(cell, x, h):
    w, v, b, c = (t.numpy() for t in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh))
    return x @ w.T + b, h @ v.T + c


def lstm(cell, x, state):
    a, b = parts(cell, x, state[0])
    i, f, g, o = np.split(a + b, 4, 1)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


class Recurrent(unittest.TestCase):
    def test_cells(self):
        x, h, c = draw(3, 4), draw(3, 5), draw(3, 5)
        cell = M.RNNCell(4, 5)
        np.testing.assert_allclose(cell(tensor(x), tensor(h)).numpy(), np.tanh(sum(parts(cell, x, h))), rtol=1e-4)
        cell = M.LSTMCell(4, 5)
        for got, want in zip(cell(tensor(x), (tensor(h), tensor(c))), lstm(cell, x, (h, c))):
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-3, atol=1e-5)
        cell = M.GRUCell(4, 5)
        (xr, xz, xn), (hr, hz, hn) = (np.split(p, 3, 1) for p in parts(cell, x, h))
        z, n = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * hn)
        np.testing.assert_allclose(cell(tensor(x), tensor(h)).numpy(), (1 - z) * n + z * h, rtol=1e-3, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "nonlinearity"):
            M.RNNCell(1, 1, nonlinearity="sin")

    def test_two_layers_both_ways(self):
        net, x = M.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True), draw(2, 3, 4)
        y, (h, c) = net(tensor(x))
        steps, last = [x[:, t] for t in range(3)], []
        for layer in range(2):
            ways = []
            for way in range(2):
                state, out = (np.zeros((2, 5), np.float32),) * 2, []
                for step in steps[::-1] if way else steps:
                    state = lstm(net.cells[2 * layer + way], step, state)
                    out.append(state[0])
                ways.append(out[::-1] if way else out)
                last.append(state)
            steps = [np.concatenate(both, 1) for both in zip(*ways)]
        np.testing.assert_allclose(y.numpy(), np.stack(steps, 1), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(h.numpy(), np.stack([s[0] for s in last]), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(c.numpy(), np.stack([s[1] for s in last]), rtol=1e-3, atol=1e-5)
        given = draw(2, 20)
        again, _ = net(tensor(x), (tensor(given), tensor(given)))
        self.assertFalse(np.array_equal(again.numpy(), y.numpy()))
        self.assertEqual([t.shape for t in M.RNN(4, 5, 2, nonlinearity="relu")(tensor(draw(3, 2, 4)))],
                         [(3, 2, 5), (2, 2, 5)])

    def test_traced_training_has_the_bits_of_eager(self):
        def run(make):
            random.seed(3)
            net = M.LSTM(4, 5)
            gm = GradManager().attach(net.parameters())

            def step(x):
                with gm:
                    loss = (net(x)[0] ** 2).sum()
                    gm.backward(loss)
                for p in net.parameters():
                    p._replace(p - p.grad * 0.1)
                    p.grad = None
                return loss

            step, rng = make(step), np.random.default_rng(2)
            losses = [step(tensor(rng.standard_normal((3, 2, 4)).astype(np.float32))).numpy() for _ in range(3)]
            return [x.tobytes() for x in (*losses, *(p.numpy() for p in net.parameters()))]

        eager = run(lambda f: f)
        for symbolic in (False, True):
            self.assertEqual(run(lambda f: trace(f, symbolic=symbolic)), eager)

    def test_attention(self):
        net, x, s = M.MultiHeadAttention(8, 2), draw(2, 3, 8), draw(2, 4, 8)
        y, weights = net(tensor(x), tensor(s), attn_mask=tensor(draw(3, 4) > -0.5), need_weights=True)
        q, k, v = (getattr(net, n + "_proj")(tensor(a)).numpy() for n, a in (("q", x), ("k", s), ("v", s)))
        w, want = weights.numpy(), np.zeros((2, 3, 8), np.float32)
        for i, head in np.ndindex(2, 2):
            part = slice(4 * head, 4 * head + 4)
            e = np.exp(q[i, :, part] @ k[i, :, part].T / 2) * (w[i, head] > 0)
            np.testing.assert_allclose(w[i, head], e / e.sum(1, keepdims=True), rtol=1e-3, atol=1e-5)
            want[i, :, part] = w[i, head] @ v[i, :, part]
        np.testing.assert_allclose(y.numpy(), net.out_proj(tensor(want)).numpy(), rtol=1e-3, atol=1e-5)
        causal = net(tensor(x), is_causal=True, need_weights=True, average_attn_weights=True)[1].numpy()
        np.testing.assert_array_equal(causal > 0, np.tril(np.ones((2, 3, 3), bool)))

    def test_convolution_by_places(self):
        """Against each place's own product, with MegEngine's weights of 7 axes."""
        for groups, kernel, how in ((1, 3, {}), (2, (3, 2), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)})):
            layer = M.LocalConv2d(4, 6, 7, 5, kernel, groups=groups, **how)
            (kh, kw), (sh, sw), (ph, pw), (dh, dw) = layer.kernel_size, layer.stride, layer.padding, layer.dilation
            oh, ow = layer.output_height, layer.output_width
            w, x = draw(groups, oh, ow, 4 // groups, kh, kw, 6 // groups), draw(2, 4, 7, 5)
            layer.load_state_dict({"weight": w})
            padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw))).reshape(2, groups, 4 // groups, 7 + 2 * ph, 5 + 2 * pw)
            want = np.zeros((2, groups, 6 // groups, oh, ow))
            for g, i, j in np.ndindex(groups, oh, ow):
                at = padded[:, g, :, i * sh : i * sh + dh * kh : dh, j * sw : j * sw + dw * kw : dw]
                want[:, g, :, i, j] = np.einsum("nchw,chwo->no", at, w[g, i, j])
            gm = GradManager().attach(layer.parameters())
            with gm:
                y = layer(tensor(x))
                gm.backward((y * y).sum() / 2)
            np.testing.assert_allclose(y.numpy(), want.reshape(y.shape), rtol=1e-4, atol=1e-5)
            # y is linear in w: the gradient beside w is twice the loss
            self.assertAlmostEqual(float((layer.weight.grad * layer.weight).sum().numpy() / (want**2).sum()), 1, places=4)
            with self.assertRaisesRegex(ValueError, "local_conv2d: weight of shape"):
                layer(tensor(draw(2, 4, 9, 5)))
        with self.assertRaisesRegex(ValueError, "multiples of groups"):
            M.LocalConv2d(4, 6, 7, 5, 3, groups=4)

    def test_modules_of_windows(self):
        x = tensor(draw(1, 4, 4, 4))
        self.assertEqual(M.PixelShuffle(2)(x).shape, (1, 1, 8, 8))
        self.assertEqual(M.SlidingWindow(3)(x).shape, (1, 4, 2, 2, 3, 3))
        self.assertEqual(M.LocalResponseNorm(3)(x).shape, x.shape)
        self.assertEqual(M.Conv3d(4, 6, (1, 2, 3), groups=2)(tensor(draw(2, 4, 3, 3, 3))).shape, (2, 6, 3, 2, 1))


class Draws(unittest.TestCase):
    def test_seeds(self):
        draws = {
            "uniform": lambda r: r.uniform(size=(50,)), "normal": lambda r: r.normal(1, 2, size=(50,)),
            "gamma": lambda r: r.gamma(2.0, size=(50,)), "beta": lambda r: r.beta(2.0, 1.0, size=(50,)),
            "poisson": lambda r: r.poisson(4.0, size=(50,)), "exponential": lambda r: r.exponential(size=(50,)),
            "permutation": lambda r: r.permutation(50),
        }
        for name, one in draws.items():
            a, b, c = (one(random.RNG(s)).numpy() for s in (1, 1, 2))
            np.testing.assert_array_equal(a, b, name)
            self.assertFalse(np.array_equal(a, c), name)
            kept = []
            for s in (5, 5, 6):
                random.seed(s)
                kept.append(one(random).numpy())
            np.testing.assert_array_equal(kept[0], kept[1], name)
            self.assertFalse(np.array_equal(kept[0], kept[2]), name)

    def test_shapes_of_parameters_and_means(self):
        shape = tensor([[2.0, 3, 4], [9, 10, 11]])
        x = random.RNG(4).gamma(shape, tensor([0.5, 1, 1.5]), size=(40, 30)).numpy()
        self.assertEqual(x.shape, (40, 30, 2, 3))
        np.testing.assert_allclose(x.mean((0, 1)), shape.numpy() * [0.5, 1, 1.5], rtol=0.1)

    def test_orders(self):
        random.seed(1)
        rows = np.arange(60, dtype=np.float32).reshape(20, 3)
        for source in (random, random.RNG(1)):
            x = tensor(rows)
            source.shuffle(x)
            self.assertFalse(np.array_equal(x.numpy(), rows))
            np.testing.assert_array_equal(x.numpy()[np.argsort(x.numpy()[:, 0])], rows)
            self.assertEqual(sorted(source.permutation(30).tolist()), list(range(30)))
        step = trace(symbolic=True)(lambda: random.permutation(30))
        self.assertNotEqual(*(step().tolist() for _ in range(2)))


if __name__ == "__main__":
    unittest.main()
