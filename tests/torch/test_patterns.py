"""Ways of writing models that libraries of models have."""

import random
import unittest

import numpy as np
import torch
from torch import nn

from common import Attention, pair, result, same

REPEATABLE = {"time_limit": 60, "effort": 4000}  # on a busy machine, too


class Masked(nn.Module):
    """What is masked is drawn outside of PyTorch, between two graphs."""

    def __init__(self):
        super().__init__()
        self.first, self.last = (nn.Sequential(*[Attention() for _ in range(n)]) for n in (1, 3))

    @torch._dynamo.disable
    def mask(self, shape):
        drawn = np.random.rand(*shape)
        return torch.from_numpy(drawn < 0.5 + 0.1 * random.random())

    def forward(self, x):
        x = self.first(x)
        return self.last(x.masked_fill(self.mask(x.shape), 0))


class Generators(unittest.TestCase):
    def test_a_first_call_that_is_repeated_draws_the_same_of_any_generator(self):
        x, found = torch.randn(4, 64, 32), []
        for model, run in pair(Masked(), budget=0.4, **REPEATABLE):
            random.seed(3)
            np.random.seed(4)
            found.append([*result(model, run, x), torch.tensor([random.random(), np.random.rand()])])
        self.assertGreater(run.n_starts, 1)
        self.assertTrue(same(*found))


if __name__ == "__main__":
    unittest.main()
