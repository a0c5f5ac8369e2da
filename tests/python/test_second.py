"""Gradients of gradients through layers, against central differences in float64 on the reference backend."""

import unittest

import numpy as np

import ebb.functional as F
import ebb.module as M
from ebb import _core, tensor
from ebb.autodiff import GradManager

STEP = 1e-5
_core.device("ref")  # it computes in float64


def draw(seed, *shape, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def ladder(seed, *shape):
    """Values no two of which are near, nor one near 0: nothing jumps within a step."""
    n = int(np.prod(shape))
    return (np.random.default_rng(seed).permutation(n).reshape(shape) - n / 2 + 0.25) / n


def slopes(function, arrays, weights):
    """sum(gradient * weight), and its own gradients, by each array, of sum(function)."""
    inputs = [tensor(a, dtype="float64") for a in arrays]
    outer, inner = GradManager().attach(inputs), GradManager().attach(inputs)
    with outer:
        with inner:
            inner.backward(function(*inputs))
            first = [x.grad for x in inputs]
            for x in inputs:
                x.grad = None
        total = sum((g * tensor(w, dtype="float64")).sum() for g, w in zip(first, weights) if g is not None)
        outer.backward(total)
    return total.item(), [x.grad for x in inputs]


IMAGE, MATRIX = (2, 4, 5, 5), (3, 7)
CHANNEL = np.arange(1, 5) / 3.0
ATTENTION = M.MultiHeadAttention(4, 2)
for at, parameter in enumerate(ATTENTION.parameters()):
    parameter.set_value(tensor(draw(40 + at, *parameter.shape), dtype="float64"))

_attention = _core.op("attention")

ROWS = [
    ("conv2d", lambda x, w: (F.conv2d(x, w, stride=(2, 1), padding=1) ** 2).sum(),
     [draw(1, *IMAGE), draw(2, 3, 4, 3, 3)]),
    ("conv2d of groups, dilated", lambda x, w: (F.conv2d(x, w, padding=2, dilation=2, groups=2) ** 3).sum(),
     [draw(1, *IMAGE), draw(2, 6, 2, 2, 3)]),
    ("conv_transpose2d", lambda x, w: (F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1) ** 3).sum(),
     [draw(1, *IMAGE), draw(2, 4, 3, 3, 3)]),
    ("linear", lambda x, w, b: (F.linear(x, w, b) ** 3).sum(), [draw(1, *MATRIX), draw(2, 5, 7), draw(3, 5)]),
    ("matmul", lambda a, b: (F.matmul(a, b, transpose_a=True) ** 3).sum(), [draw(1, 2, 7, 3), draw(2, 2, 7, 5)]),
    ("relu", lambda x: (F.relu(x) ** 3).sum(), [ladder(1, *MATRIX)]),
    ("relu6", lambda x: (F.clip(x * 20, 0, 6) ** 3).sum(), [ladder(1, *MATRIX)]),
    ("sigmoid", lambda x: F.sigmoid(x).sum(), [draw(1, *MATRIX)]),
    ("tanh", lambda x: F.tanh(x).sum(), [draw(1, *MATRIX)]),
    ("gelu", lambda x: F.gelu(x).sum(), [draw(1, *MATRIX, low=-3, high=3)]),
    ("silu", lambda x: F.silu(x).sum(), [draw(1, *MATRIX, low=-3, high=3)]),
    ("softmax", lambda x: (F.softmax(x, 1) ** 2).sum(), [draw(1, *MATRIX)]),
    ("cross_entropy", lambda x: F.loss.cross_entropy(x * 3, tensor([1, 6, 0])), [draw(1, *MATRIX)]),
    ("cross_entropy of images", lambda x: F.loss.cross_entropy(x * 3, tensor(np.arange(50).reshape(2, 5, 5) % 4)),
     [draw(1, *IMAGE)]),
    ("avg_pool2d", lambda x: (F.avg_pool2d(x, 3, 2, 1) ** 3).sum(), [draw(1, *IMAGE)]),
    ("avg_pool2d, padding counted", lambda x: (F.avg_pool2d(x, 3, 2, 1, mode="average") ** 3).sum(),
     [draw(1, *IMAGE)]),
    ("global pool", lambda x: (F.adaptive_avg_pool2d(x, 1) ** 3).sum(), [draw(1, *IMAGE)]),
    ("max_pool2d", lambda x: (F.max_pool2d(x, 3, 2, 1) ** 3).sum(), [ladder(1, *IMAGE)]),
    ("max_pool2d, windows that overlap", lambda x: (F.max_pool2d(x, 3, 1, 1) ** 3).sum(), [ladder(1, *IMAGE)]),
    ("batch norm of images, of its batch",
     lambda x, g, b: (F.batch_norm(x, weight=g, bias=b, training=True) ** 3).sum(),
     [draw(1, *IMAGE), CHANNEL, -CHANNEL]),
    ("batch norm of rows", lambda x, g, b: (F.batch_norm(x, weight=g, bias=b, training=True) ** 3).sum(),
     [draw(1, 6, 4), CHANNEL, -CHANNEL]),
    ("batch norm of running statistics",
     lambda x, g, b: (F.batch_norm(x, tensor(CHANNEL, dtype="float64"), tensor(CHANNEL + 1, dtype="float64"), g, b)
                      ** 3).sum(),
     [draw(1, *IMAGE), CHANNEL, -CHANNEL]),
    ("layer norm", lambda x, g, b: (F.layer_norm(x, (7,), True, g, b) ** 3).sum(),
     [draw(1, *MATRIX), np.arange(1, 8) / 3.0, draw(3, 7)]),
    ("group norm of images", lambda x, g, b: (F.group_norm(x, 2, True, g, b) ** 3).sum(),
     [draw(1, *IMAGE), CHANNEL, -CHANNEL]),
    ("group norm of rows", lambda x, g, b: (F.group_norm(x, 2, True, g, b) ** 3).sum(),
     [draw(1, 3, 4), CHANNEL, -CHANNEL]),
    ("instance norm", lambda x: (F.instance_norm(x, False) ** 3).sum(), [draw(1, 2, 3, 4, 1)]),
    ("multi-head attention", lambda x: (ATTENTION(x, is_causal=True)[0] ** 3).sum(), [draw(1, 2, 3, 4)]),
    *((f"attention{', causal' * causal}", lambda x, causal=causal: (_attention(x * 2, heads=2, causal=causal)[0] ** 3).sum(),
       [draw(1, 2, 3, 12)]) for causal in (False, True)),
    ("embedding", lambda w: (F.embedding(tensor([[1, 4], [1, 0]]), w) ** 3).sum(), [draw(1, 5, 3)]),
    ("embedding by the classifier's table", lambda w: (F.linear(F.embedding(tensor([1, 4, 1]), w), w) ** 3).sum(), [draw(1, 5, 3)]),
]


class SecondGradients(unittest.TestCase):
    def test_agree_with_differences_of_the_first(self):
        for name, function, arrays in ROWS:
            with self.subTest(name):
                weights = [draw(10 + i, *a.shape) for i, a in enumerate(arrays)]
                _, second = slopes(function, arrays, weights)
                for i, array in enumerate(arrays):
                    way = draw(20 + i, *array.shape)
                    sides = []
                    for step in (STEP, -STEP):
                        moved = [a + step * way if k == i else a for k, a in enumerate(arrays)]
                        sides.append(slopes(function, moved, weights)[0])
                    found = (sides[0] - sides[1]) / (2 * STEP)
                    told = 0.0 if second[i] is None else float((second[i].numpy() * way).sum())
                    self.assertLess(abs(found - told), 1e-6 * (1 + abs(told)), f"{name}, input {i}: {told}, {found}")

    def test_of_maxima_of_more_places_than_a_byte_counts_are_refused(self):
        with self.assertRaisesRegex(ValueError, "kernel 17,17: the gradient of its gradient"):
            slopes(lambda x: (F.max_pool2d(x, 17, 1, 8) ** 3).sum(), [ladder(1, 1, 2, 4, 4)], [draw(1, 1, 2, 4, 4)])

    def test_of_what_jumps_are_zeros_and_there(self):
        x = tensor(ladder(1, 3, 5), dtype="float64")
        outer, inner = GradManager().attach(x), GradManager().attach(x)
        with outer:
            with inner:
                inner.backward(F.relu(x).sum())
            first, x.grad = x.grad, None
            outer.backward(first.sum())
        np.testing.assert_array_equal(x.grad.numpy(), np.zeros((3, 5)))

    def test_of_a_whole_network(self):
        """A penalty on the gradient by the image, as WGAN-GP has, differentiated by the weights."""
        net = M.Sequential(M.Conv2d(3, 4, 3, padding=1), M.BatchNorm2d(4), M.ReLU(), M.MaxPool2d(2), M.Conv2d(4, 4, 2),
                           M.Sigmoid(), M.AvgPool2d(2))
        for i, p in enumerate(net.parameters()):
            p.set_value(tensor(draw(i, *p.shape, low=-0.7, high=0.7), dtype="float64"))
        for name, b in net.named_buffers():
            b.set_value(tensor(b.numpy(), dtype="float64"))
        image = tensor(draw(9, 2, 3, 6, 6), dtype="float64")
        parameters = list(net.parameters())

        def penalty():
            gm = GradManager().attach(image)
            with gm:
                gm.backward(net(image).sum())
            slope, image.grad = image.grad, None
            return ((slope ** 2).sum(axis=(1, 2, 3)) ** 0.5 - 1) ** 2

        outer = GradManager().attach(parameters)
        with outer:
            outer.backward(penalty().sum())
        for i, p in enumerate(parameters):
            way, sides, at = draw(30 + i, *p.shape), [], p.numpy()
            told = 0.0 if p.grad is None else float((p.grad.numpy() * way).sum())
            for step in (STEP, -STEP):
                p.set_value(tensor(at + step * way, dtype="float64"))
                sides.append(penalty().sum().item())
            p.set_value(tensor(at, dtype="float64"))
            found = (sides[0] - sides[1]) / (2 * STEP)
            self.assertLess(abs(found - told), 2e-6 * (1 + abs(told)), f"parameter {i}: {told}, {found}")


if __name__ == "__main__":
    unittest.main()
