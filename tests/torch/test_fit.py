"""The batch that fit finds is one that compile takes, and bytes hold by either way of costs."""

import unittest

import torch
from torch import nn

import ebb.torch
from common import convolutions, pair, peak_of_step, result


class WithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).square().mean()


def loss(model, x):
    return model(x).square().mean()


class Fits(unittest.TestCase):
    def test_compile_takes_the_batch_that_fit_finds(self):
        x, budget = torch.randn(2, 3, 16, 16), 4 << 20
        found = ebb.torch.fit(convolutions(2), [x], loss, budget)
        self.assertGreater(found.batch, 4)
        self.assertLessEqual(found.planned_bytes + found.fixed_bytes, budget)
        for costs in ("measured", "roofline"):
            with self.subTest(costs=costs):
                (_, _), (twin, compiled) = pair(WithLoss(convolutions(2)), budget=budget, costs=costs)
                x = torch.randn(found.batch, 3, 16, 16)
                result(twin, compiled, x)
                self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)
                self.assertLessEqual(compiled.planned_bytes + found.fixed_bytes, budget)

    def test_most_and_a_budget_for_one_image_only(self):
        x = torch.randn(1, 3, 16, 16)
        self.assertEqual(ebb.torch.fit(convolutions(1), [x], loss, "1GiB", most=5).batch, 5)
        one = ebb.torch.fit(convolutions(1), [x], loss, "1GiB", most=1)
        tight = one.planned_bytes + one.fixed_bytes + x.nbytes
        self.assertGreaterEqual(ebb.torch.fit(convolutions(1), [x], loss, tight).batch, 1)

    def test_lines_between_measured_batches(self):
        line = ebb.torch._fit.line
        self.assertEqual([line([(2, 100), (3, 150)], n) for n in (1, 2, 3, 10)], [50, 100, 150, 500])
        self.assertEqual(line([(2, 100), (3, 250)], 1), 0)
        found = [ebb.torch._fit.largest(lambda n, most=most: n <= most, low, 1000) for most, low in ((0, 0), (1, 0), (7, 0), (7, 3), (5000, 0), (37, 36))]
        self.assertEqual(found[:4] + found[5:], [0, 1, 7, 7, 37])
        self.assertGreaterEqual(found[4], 999 - 999 // 64)


if __name__ == "__main__":
    unittest.main()
