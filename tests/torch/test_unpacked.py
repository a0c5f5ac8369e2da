"""PyTorch allocates each value by itself: a budget counts what is live at once, not a block that all are packed into."""

import unittest
from unittest import mock

import torch
from torch import nn

import ebb.torch
from common import pair, peak_of_step, result, same

UNIT = 64
SIZES = (1, 7, 3, 5, 5, 6, 2, 6, 3, 1, 3, 5, 4, 7, 1, 2, 7)
LAST_READERS = (7, 5, 6, 10, 12, 8, 12, 14, 11, 13, 16, 15, 16, 16, 16, 16, 16)
LIVE = 27 * UNIT  # no packing has less than 28


def graph_with_gaps():
    values = [{"id": i, "name": f"v{i}", "bytes": UNIT * n, "role": "activation"} for i, n in enumerate(SIZES)]
    ops = [
        {"id": i, "name": f"o{i}", "kind": "k", "phase": "forward", "time_ns": 1000, "recomputable": False, "ordered": True, "after": [],
         "inputs": [v for v in range(i) if LAST_READERS[v] == i], "outputs": [i]}
        for i in range(len(SIZES))
    ]
    return ebb.torch._plan.text_of(values, ops)


class Unpacked(unittest.TestCase):
    def test_a_plan_is_found_where_no_packing_is(self):
        text = graph_with_gaps()
        with self.assertRaises(ebb.torch.OverBudget):
            ebb._core.plan(text, {"memory": "budget", "budget": LIVE})
        plan, starved, within = ebb.torch._graphs.planned(text, {**ebb.torch._plan.within(LIVE), "time_limit": 3.0}, patient=True)
        self.assertEqual((plan["max_live_bytes"], starved, within), (LIVE, False, LIVE))
        self.assertGreater(plan["arena_bytes"], LIVE)

    def test_every_search_of_a_model_is_for_live_bytes(self):
        """Also those of graphs that share a budget, and the one with more time before a refusal."""
        model = nn.Sequential(*[nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)) for _ in range(4)])
        x, asked, plan = torch.randn(128, 32), [], ebb._core.plan
        with mock.patch.object(ebb._core, "plan", lambda text, options: asked.append(options) or plan(text, options)):
            (plain, run), (twin, compiled) = pair(model, budget=0.6, costs="roofline", effort=4000, time_limit=60)
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes + 2 * x.nbytes)
            (_, _), (_, refused) = pair(model, budget=0.001, costs="roofline", effort=4000, time_limit=60)
            with self.assertRaises(ebb.torch.OverBudget):
                refused(x)
        self.assertTrue(asked)
        self.assertTrue(all(options.get("unpacked") for options in asked if options["memory"] == "budget"))


if __name__ == "__main__":
    unittest.main()
