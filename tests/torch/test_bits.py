"""A step within a budget: the bits of the step without one, and no more bytes than planned."""

import unittest

import torch
from torch import nn

import ebb.torch
from common import Attention, convolutions, pair, peak_of_step, result, same

CASES = {
    "convolutions, batch norms, dropouts": (lambda: convolutions(), (8, 3, 16, 16)),
    "attention, views, in-place ops": (lambda: nn.Sequential(*[Attention() for _ in range(4)]), (4, 64, 32)),
}


class Bits(unittest.TestCase):
    def test_a_budget_changes_no_bit_and_holds(self):
        for name, (make, shape) in CASES.items():
            for budget in (None, 0.6, 0.4):
                with self.subTest(model=name, budget=budget):
                    (plain, run), (twin, compiled) = pair(make(), budget=budget, time_limit=1.0)
                    x = torch.randn(*shape)
                    for _ in range(2):  # running statistics move on once a step
                        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
                    self.assertEqual(bool(budget), compiled.plans[0].n_recomputed > 0)
                    self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_masks_drawn_again_are_those_of_the_first_draw(self):
        model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5), nn.Tanh()) for _ in range(8)])
        (plain, run), (twin, compiled) = pair(model, budget=0.5, time_limit=1.0)
        x = torch.randn(512, 64)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        plan = compiled.plans[0]
        again = {plan.ops[s["op"]]["kind"] for s in plan.plan["steps"] if s["recompute"]}
        self.assertTrue(any("dropout" in kind for kind in again), again)

    def test_inductor_s_groups_keep_plan_and_bits(self):
        first = None
        model = convolutions(4)
        x = torch.randn(8, 3, 16, 16)
        for budget in (None, 0.5):
            (_, _), (twin, compiled) = pair(model, budget=budget, backend="inductor", time_limit=1.0)
            found = result(twin, compiled, x)
            first = first or found
            self.assertTrue(same(first, found))
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.10 * compiled.planned_bytes)
        (plain, run), _ = pair(model)
        for a, b in zip(result(plain, run, x), first):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
