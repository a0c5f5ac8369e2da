"""Layers and losses as functions, against NumPy."""

import itertools
import math
import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import Parameter, random, tensor
from ebb.autodiff import GradManager

RNG = np.random.default_rng(8)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def same(y, want, rtol=1e-5, atol=1e-5, text=""):
    want = np.asarray(want)
    assert y.shape == want.shape, f"{text} {y.shape} {want.shape}"
    np.testing.assert_allclose(y.numpy(), want, rtol=rtol, atol=atol, err_msg=text)


def conv(x, w, stride, pad, dilation, groups):
    n, _, h, wd = x.shape
    o, i, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow = ((s + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for s, k in ((h, kh), (wd, kw)))
    y = np.zeros((n, o, oh, ow))
    for f in range(o):
        c = f // (o // groups) * i
        for p in range(oh):
            for q in range(ow):
                at = x[:, c : c + i, p * stride :, q * stride :]
                at = at[:, :, : dilation * kh : dilation, : dilation * kw : dilation]
                y[:, f, p, q] = (at[:, :, :kh, :kw] * w[f]).sum((1, 2, 3))
    return y


class Layers(unittest.TestCase):
    def test_convolutions(self):
        for stride, pad, dilation, groups in ((1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 1), (1, 1, 1, 2)):
            x, w, b = draw(2, 4, 7, 6), draw(6, 4 // groups, 3, 3), draw(6)
            want = conv(x, w, stride, pad, dilation, groups) + b.reshape(1, 6, 1, 1)
            y = F.conv2d(tensor(x), tensor(w), tensor(b.reshape(1, 6, 1, 1)), stride, pad, dilation, groups)
            same(y, want, 1e-4, 1e-4)
            five = tensor(w.reshape(groups, 6 // groups, 4 // groups, 3, 3))
            same(F.conv2d(tensor(x), five, tensor(b), stride, pad, dilation, groups), want, 1e-4, 1e-4)

    def test_convolution_of_lines(self):
        x, w, b = draw(2, 4, 9), draw(6, 2, 3), draw(6)
        want = conv(x[:, :, None], w[:, :, None], 1, 0, 1, 2)[:, :, 0, ::2] + b[:, None]
        same(F.conv1d(tensor(x), tensor(w), tensor(b), 2, groups=2), want, 1e-4, 1e-4)

    def test_transposed_convolution_is_the_adjoint(self):
        x, w, y = draw(2, 4, 6, 6), draw(3, 4, 3, 3), draw(2, 3, 3, 3)
        forth = F.conv2d(tensor(x), tensor(w), stride=2, padding=1).numpy()
        back = F.conv_transpose2d(tensor(y), tensor(w), stride=2, padding=1, output_padding=1).numpy()
        self.assertEqual(back.shape, x.shape)
        self.assertAlmostEqual(float((forth * y).sum()), float((back * x).sum()), places=3)

    def test_linear_of_any_rank(self):
        w, b = draw(5, 3), draw(5)
        for shape in ((2, 3), (3,), (2, 4, 3), (2, 2, 2, 3)):
            x = draw(*shape)
            same(F.linear(tensor(x), tensor(w), tensor(b)), x @ w.T + b, 1e-4)

    def test_pools(self):
        x = draw(2, 3, 6, 4)
        blocks = x.reshape(2, 3, 3, 2, 2, 2)
        same(F.max_pool2d(tensor(x), 2), blocks.max((3, 5)))
        same(F.avg_pool2d(tensor(x), 2), blocks.mean((3, 5)))
        same(F.adaptive_avg_pool2d(tensor(x), 1), x.mean((2, 3), keepdims=True))
        same(F.adaptive_avg_pool2d(tensor(x), (3, 2)), blocks.mean((3, 5)))
        same(F.adaptive_max_pool2d(tensor(x), (3, 2)), blocks.max((3, 5)))
        ones = tensor(np.ones((1, 1, 2, 2), np.float32))
        same(F.avg_pool2d(ones, 3, 1, 1), np.ones((1, 1, 2, 2)))
        same(F.avg_pool2d(ones, 3, 1, 1, mode="average"), np.full((1, 1, 2, 2), 4 / 9))
        with self.assertRaisesRegex(ValueError, "no 5 x 5 windows"):
            F.adaptive_avg_pool2d(tensor(x), 5)

    def test_softmax_along_any_axis(self):
        x = draw(2, 3, 4, 5)
        for axis in range(-4, 4):
            e = np.exp(x - x.max(axis, keepdims=True))
            same(F.softmax(tensor(x), axis), e / e.sum(axis, keepdims=True))
            same(F.log_softmax(tensor(x), axis), np.log(e / e.sum(axis, keepdims=True)), 1e-4, 1e-4)
            same(F.logsumexp(tensor(x), axis), np.log(np.exp(x).sum(axis)), 1e-4)
        same(F.logsumexp(tensor([1000.0, 1000.0]), 0), 1000 + math.log(2))

    def test_norms(self):
        x, g, b = draw(4, 6, 3, 2), draw(6), draw(6)
        shaped = [a.reshape(1, 6, 1, 1) for a in (g, b)]
        m, v = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        want = (x - m) / np.sqrt(v + 1e-5) * shaped[0] + shaped[1]
        rm, rv = tensor(np.zeros(6, np.float32)), tensor(np.ones((1, 6, 1, 1), np.float32))
        y = F.batch_norm(tensor(x), rm, rv, tensor(g), tensor(shaped[1]), training=True, momentum=0.9)
        same(y, want, 1e-4, 1e-4)
        same(rm, 0.1 * m.reshape(6), 1e-4)
        same(rv, 0.9 + 0.1 * v * 24 / 23, 1e-4)
        y, nm, nv = F.batch_norm(tensor(x), rm, rv, training=True, inplace=False)
        same(y, (x - m) / np.sqrt(v + 1e-5), 1e-4, 1e-4)
        same(rm, 0.1 * m.reshape(6), 1e-4)
        same(nm, 0.19 * m.reshape(6), 1e-4)
        y = F.batch_norm(tensor(x), rm, rv)
        same(y, (x - rm.numpy().reshape(1, 6, 1, 1)) / np.sqrt(rv.numpy() + 1e-5), 1e-4, 1e-4)
        same(F.batch_norm(tensor(x), training=True), (x - m) / np.sqrt(v + 1e-5), 1e-4, 1e-4)
        flat = x.reshape(4, 36)
        norm = lambda a, axis: (a - a.mean(axis, keepdims=True)) / np.sqrt(a.var(axis, keepdims=True) + 1e-5)
        same(F.layer_norm(tensor(x), (6, 3, 2), False), norm(flat, 1).reshape(x.shape), 1e-4, 1e-4)
        w = draw(2)
        same(F.layer_norm(tensor(x), 2, True, tensor(w), tensor(w)), norm(x, 3) * w + w, 1e-3, 1e-3)
        groups = norm(x.reshape(4, 3, 12), 2).reshape(x.shape) * shaped[0] + shaped[1]
        same(F.group_norm(tensor(x), 3, True, tensor(g), tensor(b)), groups, 1e-4, 1e-4)
        same(F.instance_norm(tensor(x), False), norm(x, (2, 3)), 1e-4, 1e-4)

    def test_batch_norm_of_rank_2_and_3(self):
        for shape, axes in (((8, 3), 0), ((8, 3, 5), (0, 2))):
            x = draw(*shape)
            want = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
            same(F.batch_norm(tensor(x), training=True), want, 1e-4, 1e-4)

    def test_embedding_and_prelu(self):
        w = draw(5, 3)
        same(F.embedding(tensor([[0, 4], [2, 2]]), tensor(w)), w[[[0, 4], [2, 2]]])
        x, slope = draw(2, 3, 2, 2), draw(3)
        same(F.prelu(tensor(x), tensor(slope)), np.where(x > 0, x, x * slope.reshape(1, 3, 1, 1)))

    def test_dropout(self):
        random.seed(3)
        x = F.dropout(F.ones((1000,)), 0.25).numpy()
        np.testing.assert_allclose(np.unique(x), [0, 4 / 3], rtol=1e-6)
        self.assertTrue(0.6 < (x > 0).mean() < 0.9)
        same(F.dropout(tensor([2.0]), 0.5, training=False), [2])
        with self.assertRaisesRegex(ValueError, "drop_prob"):
            F.dropout(tensor([2.0]), 1.0)


class Losses(unittest.TestCase):
    def test_cross_entropy(self):
        for shape in ((4, 5), (2, 5, 3, 2), (3, 5, 2)):
            x = draw(*shape)
            labels = RNG.integers(0, 5, shape[:1] + shape[2:]).astype(np.int32)
            p = np.exp(x - x.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            each = -np.log(np.take_along_axis(p, labels[:, None], 1))[:, 0]
            loss, t = F.loss.cross_entropy, (tensor(x), tensor(labels))
            same(loss(*t), each.mean(), 1e-4)
            same(loss(*t, reduction="none"), each, 1e-4)
            same(loss(*t, reduction="sum"), each.sum(), 1e-4)
            same(loss(tensor(p), tensor(labels), with_logits=False), each.mean(), 1e-4)
            smooth = 0.9 * each - 0.1 * np.log(p).mean(1)
            same(loss(*t, label_smooth=0.1), smooth.mean(), 1e-4)
            same(F.loss.nll_loss(F.log_softmax(t[0], 1), t[1]), each.mean(), 1e-4)
        with self.assertRaisesRegex(ValueError, "one axis more"):
            F.loss.cross_entropy(tensor(draw(3, 4)), tensor(draw(3, 4)))

    def test_others(self):
        a, b = draw(4, 3), draw(4, 3)
        y = (b > 0).astype(np.float32)
        p = 1 / (1 + np.exp(-a))
        same(F.loss.l1_loss(tensor(a), tensor(b)), abs(a - b).mean())
        same(F.loss.square_loss(tensor(a), tensor(b), reduction="sum"), ((a - b) ** 2).sum())
        want = -(y * np.log(p) + (1 - y) * np.log(1 - p))
        same(F.loss.binary_cross_entropy(tensor(a), tensor(y)), want.mean())
        same(F.loss.binary_cross_entropy(tensor(p), tensor(y), False, reduction="none"), want, 1e-4)
        sign = 2 * y - 1
        same(F.loss.hinge_loss(tensor(a), tensor(sign)), np.maximum(1 - a * sign, 0).sum(1).mean())
        with self.assertRaisesRegex(ValueError, "reduction"):
            F.loss.l1_loss(tensor(a), tensor(b), reduction="max")

    def test_ctc_is_the_sum_over_all_ways(self):
        pred = [[[0.0614, 0.9386], [0.8812, 0.1188]], [[0.699, 0.301], [0.2572, 0.7428]]]
        one = F.nn.ctc_loss(tensor(pred), tensor([2, 2]), tensor([1, 1]), tensor([1, 1]))
        self.assertAlmostEqual(one.item(), 0.1504417, 5)

        def brute(p, label, blank):
            total = 0.0
            for way in itertools.product(range(p.shape[1]), repeat=len(p)):
                short = [c for i, c in enumerate(way) if i == 0 or c != way[i - 1]]
                if [c for c in short if c != blank] == list(label):
                    total += np.prod([p[t, c] for t, c in enumerate(way)])
            return -np.log(total)

        p = np.random.default_rng(4).uniform(0.05, 1, (5, 4, 3)).astype(np.float32)
        p /= p.sum(2, keepdims=True)
        for blank in (0, 2):
            others = [c for c in range(3) if c != blank]
            labels = [[others[0], others[0]], [others[1]], [others[0], others[1]], [others[1], others[0]]]
            steps, sizes = [5, 4, 2, 5], [len(label) for label in labels]
            want = np.array([brute(p[:t, i], label, blank) for i, (t, label) in enumerate(zip(steps, labels))])
            rows = [label + [0] * (2 - len(label)) for label in labels]
            for given in (rows, sum(labels, [])):
                def loss(reduction, given=given):
                    return F.loss.ctc_loss(tensor(p), tensor(steps), tensor(given), tensor(sizes), blank, reduction)

                np.testing.assert_allclose(loss("none").numpy(), want, rtol=1e-5)
                self.assertAlmostEqual(loss("sum").item(), want.sum(), 4)
                self.assertAlmostEqual(loss("mean").item(), (want / sizes).mean(), 5)
        x, gm = Parameter(p), GradManager()
        gm.attach(x)
        with gm:
            gm.backward(F.nn.ctc_loss(x, tensor(steps), tensor(rows), tensor(sizes), 2, "sum"))
        way = np.random.default_rng(5).uniform(-1, 1, p.shape)
        ends = [sum(brute(p[:t, i].astype(np.float64) + s * way[:t, i], label, 2)
                    for i, (t, label) in enumerate(zip(steps, labels))) for s in (1e-4, -1e-4)]
        self.assertAlmostEqual((x.grad.numpy() * way).sum(), (ends[0] - ends[1]) / 2e-4, 2)
        for wrong in ((tensor([5]), tensor(rows), tensor(sizes)), (tensor(steps), tensor([1, 1]), tensor(sizes))):
            with self.assertRaisesRegex(ValueError, "ctc_loss: "):
                F.nn.ctc_loss(tensor(p), *wrong)

    def test_accuracy(self):
        logits = tensor([[0.1, 0.9, 0.5], [0.8, 0.1, 0.2]])
        one, two = F.topk_accuracy(logits, tensor([2, 0]), (1, 2))
        self.assertEqual((one.item(), two.item()), (0.5, 1.0))


class Groups(unittest.TestCase):
    def test_weights_of_groups_have_an_axis_of_them(self):
        for made, weight, shape in (
            (lambda g: M.Conv1d(4, 6, 3, groups=g), (3, 2, 3), (2, 4, 9)), (lambda g: M.Conv2d(4, 6, (1, 3), groups=g), (3, 2, 1, 3), (2, 4, 5, 5)),
            (lambda g: M.Conv3d(4, 6, 2, groups=g), (3, 2, 2, 2, 2), (2, 4, 3, 3, 3)),
            (lambda g: M.ConvTranspose2d(4, 6, 3, groups=g), (2, 3, 3, 3), (2, 4, 5, 5)),
            (lambda g: M.ConvTranspose3d(4, 6, 2, groups=g), (2, 3, 2, 2, 2), (2, 4, 3, 3, 3)),
        ):
            net, halves, x = made(2), [], draw(*shape)
            self.assertEqual(net.weight.shape, (2, *weight))
            for g in range(2):
                half = type(net)(2, 3, net.kernel_size)
                half.weight._reset(net.weight.numpy()[g])
                half.bias._reset(net.bias.numpy()[:, 3 * g : 3 * g + 3])
                halves.append(half(tensor(x[:, 2 * g : 2 * g + 2])).numpy())
            np.testing.assert_allclose(net(tensor(x)).numpy(), np.concatenate(halves, 1), rtol=1e-5, atol=1e-5)
            gm = GradManager().attach(net.parameters())
            with gm:
                gm.backward((net(tensor(x)) ** 2).mean())
            self.assertEqual(net.weight.grad.shape, net.weight.shape)


if __name__ == "__main__":
    unittest.main()
