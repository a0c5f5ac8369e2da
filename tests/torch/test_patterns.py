"""Ways of writing models that libraries of models have."""

import random
import unittest

import numpy as np
import torch
from torch import nn

import ebb.torch
from common import Attention, pair, peak_of_step, result, same

REPEATABLE = {"time_limit": 60, "effort": 1000}  # on a busy machine, too
QUICK = {"time_limit": 60, "effort": 200}


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


class Lengths(nn.Module):
    """Batches padded to their longest: statistics are updated in the first of two graphs, the last grows by the square."""

    def __init__(self, breaks):
        super().__init__()
        self.norm, self.breaks = nn.BatchNorm1d(32), breaks
        self.first, self.last = Attention(), Attention()

    def forward(self, x):
        x = self.norm(self.first(x).transpose(1, 2)).transpose(1, 2)
        if self.breaks:
            torch._dynamo.graph_break()
        x = self.last(x)
        return x + (x @ x.transpose(1, 2)).softmax(-1) @ x


class Symbols(unittest.TestCase):
    def test_a_longer_batch_is_planned_anew_where_it_would_take_too_much(self):
        for breaks, limit in ((False, {"budget": 0.6}), (True, {"activations": 900_000})):
            (plain, run), (twin, compiled) = pair(Lengths(breaks), dynamic=True, **limit, **QUICK)
            for n in (16, 64, 48):
                x = torch.randn(8, n, 32)
                self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
                self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes + 2 * x.nbytes)  # the loss is outside
                self.assertLessEqual(compiled.planned_bytes, limit.get("activations", compiled.planned_bytes))
                plain.load_state_dict(twin.state_dict())
            self.assertGreater(sum(plan.n_recomputed for plan in compiled.plans), 0)

    def test_a_longer_batch_that_does_not_fit_is_refused_and_changes_nothing(self):
        (_, _), (twin, compiled) = pair(Lengths(True), activations=500_000, dynamic=True, **QUICK)
        x, longer = torch.randn(8, 24, 32), torch.randn(8, 256, 32)
        result(twin, compiled, x)
        before = [*map(torch.clone, twin.state_dict().values()), torch.get_rng_state()]
        with self.assertRaisesRegex(ebb.torch.OverBudget, "^ebb.torch: activations 500000 bytes: the smallest found needs"):
            compiled(longer)
        self.assertTrue(same(before, [*twin.state_dict().values(), torch.get_rng_state()]))
        result(twin, compiled, x)


class Buckets(nn.Module):
    """One block, run at each of several lengths in every call."""

    def __init__(self):
        super().__init__()
        self.block = Attention()

    def forward(self, batches):
        total = 0
        for x in batches:
            torch._dynamo.graph_break()
            y = self.block(x)
            total = total + (y + (y @ y.transpose(1, 2)).softmax(-1) @ y).square().mean()
        return total


class OneGraphAtSeveralSizes(unittest.TestCase):
    def test_all_of_them_count_and_nothing_is_planned_anew_in_each_call(self):
        (_, _), (_, compiled) = pair(Buckets(), activations=1_000_000, dynamic=True, **QUICK)
        batches = [torch.randn(8, n, 32) for n in (16, 64)]
        starts = []
        for _ in range(3):
            compiled(batches).backward()
            starts.append(compiled.n_starts)
        self.assertEqual(starts, [starts[0]] * 3)
        self.assertLessEqual(compiled.planned_bytes, 1_000_000)
        self.assertGreater(compiled.planned_bytes, 500_000)  # 880,640 without any recomputation of the longer one


class WithoutGradients(unittest.TestCase):
    def test_a_call_that_asks_for_none_runs_in_groups_with_the_same_masks(self):
        layers = nn.Sequential(nn.Linear(32, 32), nn.BatchNorm1d(32), nn.GELU(), nn.Dropout(0.3), nn.Linear(32, 8))
        for model, run in pair(layers, backend="inductor"):
            found = []
            for training in (True, False):
                model.train(training)
                torch.manual_seed(3)
                with torch.no_grad():
                    found += [run(torch.ones(16, 32).cumsum(0)), model[1].running_mean.clone(), torch.get_rng_state()]
            expected = found if run is model else expected
        for a, b in zip(expected, found, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


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
