"""How often graphs that share a budget are searched for, and what becomes of a search that ends with nothing."""

import unittest
from unittest import mock

import torch
from torch import nn

import ebb.torch
from common import pair, result, same
from test_shares import REPEATABLE, Block


class DearAndSmall(nn.Module):
    def __init__(self):
        super().__init__()
        self.dear, self.small = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(6)]), nn.Sequential(nn.Linear(64, 4), nn.Tanh())

    def forward(self, x):
        x = self.dear(x).mean(0, keepdim=True)
        torch._dynamo.graph_break()
        return self.small(x)


def listed(wanted):
    """Appends the options of each plan that is asked for."""
    make_plan = ebb.torch._plan.make_plan
    return mock.patch.object(ebb.torch._plan, "make_plan", lambda text, options: wanted.append(options) or make_plan(text, options))


class Searches(unittest.TestCase):
    def test_a_graph_that_could_not_be_given_more_is_searched_for_once(self):
        """One holds nearly all, the other next to nothing: no other shares are tried."""
        x, wanted = torch.randn(2048, 64), []
        with listed(wanted):
            (plain, run), (twin, compiled) = pair(DearAndSmall(), budget=0.6, costs="roofline", **REPEATABLE)
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        self.assertGreater(compiled.plans[0].predicted_added, 0.02)
        self.assertEqual((len(compiled.plans), compiled.n_starts), (2, 1))
        self.assertLessEqual(len(wanted), 3)  # the small graph's least is the second of its two

    def test_no_share_is_looked_for_where_one_graph_alone_needs_more(self):
        """60 plans were asked for when all nine parts were tried; the least that is named can be met."""
        x, wanted = torch.randn(2048, 64), []
        with listed(wanted):
            (plain, run), (twin, compiled) = pair(DearAndSmall(), budget=0.05, costs="roofline", **REPEATABLE)
            with self.assertRaises(ebb.torch.OverBudget) as told:
                compiled(x)
        self.assertLessEqual(len(wanted), 40)
        (plain, run), (twin, compiled) = pair(DearAndSmall(), budget=told.exception.least_share, costs="roofline", **REPEATABLE)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))

    def test_searches_for_all_graphs_take_as_long_as_one_for_a_graph_alone(self):
        """Each graph has a quick search first, and one at length where that may gain something; the small one, of 0.1 ms a step, has none."""
        x, wanted = torch.randn(2048, 64), []
        with listed(wanted):
            (plain, run), (twin, compiled) = pair(DearAndSmall(), budget=0.6, costs="roofline")
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        small = [g for g in compiled.plans if g.bytes_in_order < 100_000]
        self.assertEqual((len(compiled.plans), len(small)), (2, 1))
        own = sum(op["time_ns"] for op in small[0].ops) / 1e9
        seconds = [options["time_limit"] for options in wanted]
        self.assertEqual(seconds[0], 0.3)
        self.assertLessEqual(min(seconds), max(0.1, 1000 * own))
        self.assertEqual(sum(one > 0.3 for one in seconds), 1)
        self.assertLessEqual(max(seconds), 3.0)
        alone = []
        with listed(alone):
            (plain, run), (twin, compiled) = pair(DearAndSmall().dear, budget=0.6, costs="roofline")
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        self.assertEqual([options["time_limit"] for options in alone], [3.0])

    def test_the_part_that_short_searches_rank_first_is_searched_for_in_the_time_that_is_left(self):
        graph, at_length = mock.Mock(gradient_bytes=0, given_bytes=0, held_in_order=100, least_bytes=0, planned_bytes=0), []

        class Tried:
            def __init__(self, runs, total, part, options, patient=False, like=None):
                self.part, self.holds, self.planned, self.plans = part, True, 0, {}
                self.time_ns = abs(part - 0.8)
                self.rank = (0, self.time_ns)
                if like is not None:
                    at_length.append((part, like.part, options["time_limit"]))

        with mock.patch.object(ebb.torch._share, "Shared", Tried), mock.patch.object(ebb.torch._share.time, "monotonic", mock.Mock(side_effect=[5.0, 6.0])):
            ebb.torch._share.share_out([graph, graph], 1000, {"time_limit": 3.0})
        self.assertEqual(at_length, [(0.8, 0.8, 2.0)])

    def test_parts_begin_with_the_largest_that_leaves_each_graph_its_least(self):
        """The second needs 400 of 1000 bytes: the first may hold 600 then, of which the caller has been given 200, and 1400 in order."""
        first = mock.Mock(gradient_bytes=0, given_bytes=200, held_in_order=1400, least_bytes=0)
        second = mock.Mock(gradient_bytes=0, given_bytes=0, held_in_order=0, least_bytes=400)
        self.assertAlmostEqual(ebb.torch._share.largest_part([first, second], 1000), 1 / 3)
        second.least_bytes = 900
        self.assertEqual(ebb.torch._share.largest_part([first, second], 1000), 0)
        self.assertEqual(ebb.torch._share.largest_part([first, second], 10_000), 1)

    def test_gradients_that_come_in_leave_the_room_that_others_take(self):
        """They come when the graphs after it have run: what is held then, and the others' bytes, may be the whole limit."""
        (_, _), (twin, compiled) = pair(DearAndSmall(), budget=1.0, costs="roofline", **REPEATABLE)
        compiled(torch.randn(2048, 64))
        graph = max(compiled.plans, key=lambda g: g.bytes_in_order)
        self.assertEqual(graph.passing_bytes, 64 * 4)
        held, limit = graph.held_bytes, graph.planned_bytes + (1 << 20)
        graph.free = False  # it is searched for again
        again = ebb.torch._graphs.settle(graph, limit, held, {"time_limit": 60, "effort": 100})
        self.assertEqual((again.time_ns, again.starved), (graph.time_ns, False))
        self.assertEqual(again.room, (limit - held - graph.passing_bytes) // 64 * 64)

    def test_a_search_at_length_begins_with_what_the_short_one_held(self):
        """What the first graph can not go below is taken from the second at once."""
        graphs = [mock.Mock(ops=[0], gradient_bytes=0, given_bytes=0, held_in_order=100, bytes_in_order=1000, kept_bytes=0) for _ in range(2)]
        limits = []

        def settle(graph, limit, held, options, patient):
            limits.append(limit)
            return mock.Mock(planned_bytes=limit, held_bytes=60)

        with mock.patch.object(ebb.torch._share, "settle", settle):
            short = mock.Mock(holds=True, plans=ebb.torch._share.attempt(graphs, 1000, 0.3, {"effort": 100}, False))
            self.assertEqual(limits, [1000, 970, 1000, 940])
            limits.clear()
            again = ebb.torch._share.attempt(graphs, 1000, 0.3, {"effort": 100}, False, like=short)
        self.assertEqual(limits, [1000, 940])
        self.assertLessEqual(ebb.torch._share.Graphs(graphs, {g: again[g] for g in graphs}).planned, 1000)

    def test_what_a_refusal_names_is_not_searched_for_again(self):
        core_plan, searched = ebb._core.plan, []
        (_, _), (twin, compiled) = pair(Block(), budget=0.01, **REPEATABLE)
        with mock.patch.object(ebb._core, "plan", lambda text, options: searched.append(options["memory"]) or core_plan(text, options)):
            with self.assertRaises(ebb.torch.OverBudget) as told:
                compiled(torch.randn(256, 32))
        self.assertIn("smallest found needs", str(told.exception))
        self.assertLessEqual(searched.count("budget"), 2)  # the graph's own, and one with more time before it is refused

    def test_searches_that_end_with_nothing_are_a_refusal(self):
        """Then graphs are planned in PyTorch's order, which has no budget."""
        unmet = ebb.OverBudget("ebb: cut the search short")
        unmet.least_bytes = 0
        make_plan = ebb.torch._plan.make_plan

        def nothing(text, options):
            if options["memory"] == "budget":
                raise unmet
            return make_plan(text, options)

        (_, _), (_, compiled) = pair(DearAndSmall(), budget=0.5, costs="roofline", **REPEATABLE)
        with mock.patch.object(ebb.torch._plan, "make_plan", nothing), self.assertRaisesRegex(ebb.torch.OverBudget, "the smallest found needs"):
            compiled(torch.randn(2048, 64))

    def test_the_plan_that_a_graph_has_is_taken_where_a_search_finds_none(self):
        (_, _), (twin, compiled) = pair(Block(), budget=0.6, **REPEATABLE)
        result(twin, compiled, torch.randn(256, 32))
        facts, = compiled.plans
        facts.free = False  # it may be searched for again
        unmet = ebb.OverBudget("ebb: cut the search short")
        unmet.least_bytes = 2 * facts.planned_bytes
        make_plan = ebb.torch._plan.make_plan

        def short(text, options):
            if options["memory"] == "budget" and options["budget"] < unmet.least_bytes:
                raise unmet
            return make_plan(text, options)

        with mock.patch.object(ebb.torch._plan, "make_plan", short):
            found = ebb.torch._graphs.settle(facts, facts.planned_bytes, facts.held_bytes, REPEATABLE)
            self.assertLessEqual((found.planned_bytes, found.held_bytes), (facts.planned_bytes, facts.held_bytes))
            found = ebb.torch._graphs.settle(facts, facts.planned_bytes - 64, facts.held_bytes, REPEATABLE)
            self.assertGreater(found.planned_bytes, facts.planned_bytes)


if __name__ == "__main__":
    unittest.main()
