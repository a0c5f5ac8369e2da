"""How graphs of one model share a budget, what is said of one that is too small, and PyTorch's own knob with Ebb behind it."""

import itertools
import unittest
from unittest import mock

import torch
from torch import nn

import ebb.torch
from common import Attention, convolutions, pair, peak_of_step, result, same

X = (8, 3, 16, 16)
REPEATABLE = {"time_limit": 60, "effort": 4000}  # on a busy machine, too


class Uneven(nn.Module):
    """A graph that can give back nothing, before one that can."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(32, 32), nn.Sequential(*[Attention() for _ in range(4)])

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.last(x)


class Teacher(nn.Module):
    """Its forward moves parameters that ask for gradients."""

    def __init__(self):
        super().__init__()
        self.teacher, self.student = (nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 8)) for _ in range(2))

    def forward(self, x):
        with torch.no_grad():
            for p, q in zip(self.student.parameters(), self.teacher.parameters()):
                q.lerp_(p, 0.05)
            goal = self.teacher(x)
        return self.student(x) - goal


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.GELU()) for _ in range(4)])

    def forward(self, x):
        return x + self.layers(x)


class Repeated(nn.Module):
    """Blocks of one kind in a loop that breaks: the graph of one runs for all of them."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(5)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
            torch._dynamo.graph_break()
        return x


class Sines(nn.Module):
    def forward(self, x):
        for _ in range(6):
            x = x.sin() * x
        return x


class DearAndCheap(nn.Module):
    """What the first graph would compute again takes far longer than what the second would."""

    def __init__(self):
        super().__init__()
        self.dear, self.cheap = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(4)]), Sines()

    def forward(self, x):
        x = self.dear(x)
        torch._dynamo.graph_break()
        return self.cheap(x)


class Shares(unittest.TestCase):
    def test_graphs_that_hold_one_by_one_share_where_that_is_faster(self):
        x, model, times = torch.randn(4096, 64), DearAndCheap(), []
        clock = mock.patch.object(ebb.torch._graphs.time, "process_time", side_effect=itertools.count())  # a second each time it is asked
        for better in (lambda *_: None, ebb.torch._compile.better):
            with mock.patch.object(ebb.torch._compile, "better", better), clock:
                (plain, run), (twin, compiled) = pair(model, budget=0.65, costs="roofline", **REPEATABLE)
                self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
            together = ebb.torch._share.Graphs(compiled.plans)
            self.assertLessEqual(together.planned, together.kept + 0.65 * (together.in_order - together.kept))
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes + 2 * x.nbytes)  # the loss is outside
            times.append(sum(plan.time_ns for plan in compiled.plans))
        self.assertLess(times[1], 0.95 * times[0])
        self.assertEqual(compiled.n_starts, 2)
        self.assertGreaterEqual(min(plan.planning_seconds for plan in compiled.plans), 2)  # of the start before, too

    def test_a_graph_counts_as_often_as_it_runs(self):
        x = torch.randn(256, 32)
        (_, _), (twin, compiled) = pair(Repeated(), time_limit=0.5)
        result(twin, compiled, x)
        self.assertLess(len(compiled.plans), 5)
        in_order = compiled.planned_bytes
        self.assertGreater(in_order, sum(plan.planned_bytes for plan in compiled.plans))
        for share in (0.7, 0.35):  # the latter is below what five blocks hold that have their smallest peak
            (plain, run), (twin, compiled) = pair(Repeated(), activations=int(share * in_order), **REPEATABLE)
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
            self.assertLessEqual(compiled.planned_bytes, share * in_order)
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes + 2 * x.nbytes)  # the loss is outside

    def test_what_is_held_between_the_halves_has_a_limit_of_its_own(self):
        x = torch.randn(256, 32)
        (_, _), (twin, compiled) = pair(Block(), time_limit=0.5)
        result(twin, compiled, x)
        facts, options = compiled.plans[0], {"time_limit": 60, "effort": 4000}
        self.assertEqual(facts.planned_bytes, facts.plan["max_live_bytes"])
        held = []
        for part in (1, 0.6, 0.3):
            cap = int(facts.given_bytes + part * (facts.held_in_order - facts.given_bytes))
            found = ebb.torch._graphs.settle(facts, 4 * facts.bytes_in_order, cap, options)
            self.assertLessEqual(found.held_bytes, cap)
            self.assertLessEqual(found.planned_bytes, 4 * facts.bytes_in_order)
            held.append(found.held_bytes)
        self.assertEqual(held, sorted(held, reverse=True))
        self.assertLess(held[2], held[0])

    def test_a_call_that_is_refused_leaves_everything_as_it_was(self):
        model = Teacher()
        before = [t.clone() for t in model.state_dict().values()]
        (_, _), (twin, compiled) = pair(model, budget=0.01, **REPEATABLE)
        with self.assertRaisesRegex(ebb.torch.OverBudget, "the smallest found needs"):
            compiled(torch.randn(16, 32))
        self.assertTrue(same(before, list(twin.state_dict().values())))

    def test_a_parameter_that_is_only_moved_has_no_gradient(self):
        (_, _), (twin, compiled) = pair(Teacher(), time_limit=0.5)
        compiled(torch.randn(16, 32)).square().mean().backward()
        self.assertTrue(all(p.grad is None for p in twin.teacher.parameters()))
        self.assertTrue(all(p.grad is not None for p in twin.student.parameters()))

    def test_the_least_that_a_refusal_names_is_taken(self):
        x, model = torch.randn(*X), convolutions(3)
        (_, _), (_, compiled) = pair(model, budget=0.01, **REPEATABLE)
        with self.assertRaisesRegex(ebb.torch.OverBudget, "the smallest found needs") as caught:
            compiled(x)
        (_, _), (twin, compiled) = pair(model, budget=caught.exception.least_share, **REPEATABLE)
        result(twin, compiled, x)
        self.assertFalse(compiled.plans[0].starved)
        self.assertLessEqual(compiled.planned_bytes, compiled.plans[0].budget_bytes)

    def test_a_refusal_is_whole_whatever_the_clock_cut_off(self):
        x, real, least = torch.randn(*X), ebb.torch._plan.make_plan, 400_000

        def make(text, options):
            if options["memory"] == "in_place" or options["budget"] > loosest:
                in_order = {name: value for name, value in options.items() if name not in ("budget", "unpacked")}
                return real(text, {**in_order, "memory": "in_place"})
            asked.append(options["budget"])
            raise ebb.torch.OverBudget(f"no plan found within {options['budget']} bytes", least if known and len(asked) == 2 else None)

        for known, loosest in ((False, 1 << 40), (True, 1 << 40), (True, least)):
            (_, _), (_, compiled) = pair(convolutions(2), budget=0.01, **REPEATABLE)
            asked = []
            with mock.patch.object(ebb.torch._plan, "make_plan", make):
                with self.assertRaisesRegex(ebb.torch.OverBudget, r"^ebb.torch: budget 0.01: the smallest found needs \d+ bytes, a share of 1") as caught:
                    compiled(x)
            self.assertEqual(caught.exception.least_share, 1.0)
            self.assertGreater(caught.exception.least_bytes, least)
            self.assertEqual(known, least in asked)

    def test_a_graph_at_its_least_takes_from_the_others(self):
        x = torch.randn(4, 64, 32)
        (plain, run), (twin, compiled) = pair(Uneven(), budget=0.5, **REPEATABLE)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        self.assertTrue(any(plan.starved for plan in compiled.plans))
        together = ebb.torch._share.Graphs(compiled.plans)
        self.assertLessEqual(together.planned, together.kept + 0.5 * (together.in_order - together.kept))
        self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_less_than_all_graphs_need_together_is_refused_with_the_least(self):
        x = torch.randn(4, 64, 32)
        model = Uneven()
        (_, _), (twin, compiled) = pair(model, budget=0.02, **REPEATABLE)
        state = torch.get_rng_state()
        with self.assertRaisesRegex(ebb.torch.OverBudget, r"^ebb.torch: budget 0.02: the smallest found needs \d+ bytes, a share of 0\.\d+; ") as caught:
            compiled(x)
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        (plain, run), (twin, compiled) = pair(model, budget=min(1.0, 1.05 * caught.exception.least_share), **REPEATABLE)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))

    def test_a_share_is_of_the_largest_step_so_far(self):
        torch.manual_seed(0)
        layers = [nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.GELU(), nn.Dropout(0.1)) for _ in range(6)]
        for model, shape in ((nn.Sequential(*layers), (64,)), (Uneven(), (64, 32))):
            (plain, run), (twin, compiled) = pair(model, budget=0.5, **REPEATABLE)
            sizes = {}
            for n in (64, 1, 3, 128):  # of the smaller ones alone, half would be below the least
                x = torch.randn(n + 1, *shape)
                self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
                sizes[n] = compiled.planned_bytes
            self.assertEqual(sizes[64], sizes[3])
            self.assertLess(1.5 * sizes[64], sizes[128])
            self.assertLess(sizes[128], 2.2 * sizes[64])

    def test_bytes_below_the_least_name_the_least_total(self):
        model = Uneven()
        (_, _), (_, compiled) = pair(model, budget=150_000, **REPEATABLE)
        with self.assertRaisesRegex(ebb.torch.OverBudget, r"budget 150000 bytes: the smallest found needs \d+ bytes: parameters") as caught:
            compiled(torch.randn(4, 64, 32))
        least = caught.exception.least_bytes
        (plain, run), (twin, compiled) = pair(model, budget=least + least // 20, **REPEATABLE)
        x = torch.randn(4, 64, 32)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        fixed = compiled.backend.budget.fixed
        self.assertLessEqual(compiled.planned_bytes + fixed, least + least // 20)


class ByName(unittest.TestCase):
    def one_line(self, kind, text, options):
        torch._dynamo.reset()
        with self.assertRaisesRegex(kind, text) as caught:
            torch.compile(convolutions(2), backend="ebb", options=options)(torch.ones(X)).sum().backward()
        self.assertNotIn("\n", str(caught.exception))

    def test_what_is_wrong_is_said_in_one_line(self):
        self.one_line(ValueError, '^backend "ebb" has no option \'bugdet\'$', {"bugdet": 0.5})
        self.one_line(ValueError, "^budget 1.5: a share is above 0", {"budget": 1.5})
        self.one_line(TypeError, r"^budget \[1\]: ", {"budget": [1]})
        self.one_line(ValueError, "^backend 'cudnn'", {"backend": "cudnn"})
        self.one_line(ebb.torch.OverBudget, "the reserve 1048576: nothing is left", {"budget": 100_000, "reserve": "1MiB"})
        self.one_line(ebb.torch.OverBudget, r"^ebb.torch: budget 100000 bytes: the smallest found needs \d+ bytes", {"budget": 100_000})


class Knob(unittest.TestCase):
    def test_the_solver_keeps_bits_and_what_it_may_save(self):
        x, saved, found = torch.randn(*X), {}, {}
        torch.manual_seed(1)
        layers = [nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.Tanh()) for _ in range(6)]
        model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *layers)  # without dropout, whose masks this way of PyTorch's draws anew

        def count(t):
            if isinstance(t, torch.Tensor) and not any(t.untyped_storage()._cdata == p.untyped_storage()._cdata for p in model.parameters()):
                sizes.append(t.untyped_storage().nbytes())
            return t

        config = torch._functorch.config
        for solver in ("dp", ebb.torch.solver):
            for budget in (1.0, 0.4):
                torch._dynamo.reset()
                sizes = []
                with config.patch(activation_memory_budget=budget, activation_memory_budget_solver=solver):
                    run = torch.compile(model, backend="aot_eager_decomp_partition")
                    torch.manual_seed(5)
                    with torch.autograd.graph.saved_tensors_hooks(count, lambda t: t):
                        loss = run(x).square().mean()
                    loss.backward()
                saved[solver, budget] = sum(sizes)
                found[solver, budget] = [p.grad.clone() for p in model.parameters()]
                for p in model.parameters():
                    p.grad = None
        self.assertLess(saved[ebb.torch.solver, 0.4], 0.75 * saved[ebb.torch.solver, 1.0])
        self.assertTrue(same(found["dp", 1.0], found[ebb.torch.solver, 0.4]))


if __name__ == "__main__":
    unittest.main()
