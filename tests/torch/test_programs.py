"""What programs do around a step: breaks, marks, accumulation, autocast, optimizers, processes; and what is refused, in one line."""

import gc
import importlib
import os
import unittest
import unittest.mock
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import ebb
import ebb.torch
from common import Attention, convolutions, pair, peak_of_step, result, same

X = (8, 3, 16, 16)


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (nn.Sequential(*[Attention() for _ in range(2)]) for _ in range(2))

    def forward(self, x):
        x = self.a(x)
        torch._dynamo.graph_break()
        return self.b(x)


def keep(ctx, op, *args, **kwargs):
    products = (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
    return CheckpointPolicy.MUST_SAVE if op in products else CheckpointPolicy.PREFER_RECOMPUTE


def contexts():
    return create_selective_checkpoint_contexts(keep)


class Marked(nn.Module):
    """Products must be saved; the rest of the block is PyTorch's to recompute, and Ebb's to choose."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Attention() for _ in range(3)])

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False, context_fn=contexts)
        return x


RUNS = []


@torch.library.custom_op("ebb_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    RUNS.append(1)
    return x * 2


twice.register_fake(lambda x: torch.empty_like(x))
twice.register_autograd(lambda ctx, g: g * 2)


@torch.library.custom_op("ebb_test::blind", mutates_args=())
def blind(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class Works(unittest.TestCase):
    def both(self, model, x, **options):
        (plain, run), (twin, compiled) = pair(model, **{"budget": 0.6, "time_limit": 1.0, **options})
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        return compiled

    def test_graph_breaks_share_the_budget(self):
        compiled = self.both(Broken(), torch.randn(4, 64, 32))
        self.assertEqual(len(compiled.plans), 2)
        limit = compiled.planned_bytes
        x = torch.randn(4, 64, 32)
        tight = self.both(Broken(), x, budget=None, activations=limit + limit // 20)
        self.assertLessEqual(tight.planned_bytes, limit + limit // 20)
        self.assertLessEqual(peak_of_step(tight.model, tight, x), 1.01 * tight.planned_bytes)

    def test_another_batch_gets_a_plan_of_its_own(self):
        compiled = self.both(convolutions(3), torch.randn(*X), dynamic=False)
        compiled(torch.randn(4, 3, 16, 16)).sum().backward()
        compiled(torch.randn(*X)).sum().backward()
        self.assertEqual(len(compiled.plans), 2)
        self.assertLess(compiled.plans[1].planned_bytes, compiled.plans[0].planned_bytes)

    def test_what_must_be_saved_is_not_run_again(self):
        compiled = self.both(Marked(), torch.randn(4, 64, 32), budget=0.9)
        plan = compiled.plans[0]
        again = {plan.ops[s["op"]]["kind"] for s in plan.plan["steps"] if s["recompute"]}
        self.assertTrue(again)
        self.assertFalse(again & {"addmm.default", "mm.default"})

    def test_a_custom_op_runs_once(self):
        class Custom(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(4)])

            def forward(self, x):
                for layer in self.layers:
                    x = torch.tanh(twice(torch.tanh(layer(x))))
                return x

        (_, _), (twin, compiled) = pair(Custom(), budget=0.7, time_limit=1.0)
        result(twin, compiled, torch.randn(256, 64))
        RUNS.clear()
        result(twin, compiled, torch.randn(256, 64))
        self.assertEqual(len(RUNS), 4)

    def test_gradients_accumulate(self):
        (plain, run), (twin, compiled) = pair(convolutions(3), budget=0.6, time_limit=1.0)
        for model, step in ((plain, run), (twin, compiled)):
            torch.manual_seed(3)
            for _ in range(2):
                step(torch.randn(*X)).square().mean().backward()
        self.assertTrue(same([p.grad for p in plain.parameters()], [p.grad for p in twin.parameters()]))

    def test_autocast(self):
        (plain, run), (twin, compiled) = pair(nn.Sequential(*[Attention() for _ in range(3)]), budget=0.6, time_limit=1.0)
        x = torch.randn(4, 64, 32)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))

    def test_a_compiled_optimizer(self):
        (plain, run), (twin, compiled) = pair(convolutions(2), budget=0.6, time_limit=1.0)
        for model, step in ((plain, run), (twin, compiled)):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            update = torch.compile(optimizer.step, backend="aot_eager") if step is compiled else optimizer.step
            for _ in range(2):
                result(model, step, torch.full(X, 0.3))
                update()
        self.assertTrue(same(list(plain.parameters()), list(twin.parameters())))

    def test_only_the_plan_is_held_after_compiling(self):
        compiled = self.both(convolutions(2), torch.randn(*X))
        gc.collect()
        kinds = {type(thing).__name__ for thing in gc.get_objects() if str(type(thing).__module__).startswith("ebb.torch.")}
        self.assertLessEqual(kinds, {"Backend", "Budget", "Compiled", "GraphPlan", "Solver"})
        self.assertTrue(compiled.plans)

    def test_the_backend_by_name(self):
        torch._dynamo.reset()
        model = convolutions(2)
        plain = result(model, model, torch.ones(X))
        del plain[-1 - len(list(model.buffers())):-1]  # the second step's running statistics have moved on
        run = torch.compile(model, backend="ebb", options={"budget": 0.6, "time_limit": 1.0})
        found = result(model, run, torch.ones(X))
        del found[-1 - len(list(model.buffers())):-1]
        self.assertTrue(same(plain, found))

    def test_without_gradients(self):
        model = convolutions(2).eval()
        compiled = ebb.torch.compile(model, budget=0.5)
        with torch.no_grad():
            self.assertTrue(torch.equal(model(torch.ones(X)), compiled(torch.ones(X))))
        self.assertEqual(compiled.plans, [])

    def test_what_runs_outside_of_graphs_is_told(self):
        class Loop(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])

            def forward(self, x):
                for layer in self.layers:
                    (chosen,) = torch.where(x[:, 0] > 0)  # its size is known when it has run
                    x = x.index_add(0, chosen, layer(x[chosen]))
                return x

        (plain, run), (twin, compiled) = pair(Loop(), budget=1.0)
        x = torch.randn(16, 8)
        with self.assertWarnsRegex(UserWarning, "outside of graphs"):
            found = result(twin, compiled, x)
        self.assertTrue(same(result(plain, run, x), found))
        with warnings.catch_warnings(record=True) as seen:
            (_, _), (twin, compiled) = pair(Broken(), budget=1.0)
            result(twin, compiled, torch.randn(4, 64, 32))
        self.assertFalse([w for w in seen if "ebb.torch" in str(w.message)])

    def test_fit_and_report(self):
        model = convolutions(2)
        found = ebb.torch.fit(model, [torch.randn(1, 3, 16, 16)], lambda m, x: m(x).square().mean(), "8MiB")
        self.assertGreater(found.batch, 8)
        self.assertLessEqual(found.planned_bytes + found.fixed_bytes, 8 << 20)
        compiled = self.both(convolutions(2), torch.randn(*X))
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"ebb-report-{os.getpid()}.html")
        try:
            ebb.torch.report(compiled, path)
            with open(path, encoding="utf-8") as file:
                self.assertIn("line", file.read())
        finally:
            os.unlink(path)


class Refuses(unittest.TestCase):
    def one_line(self, kind, text, call):
        with self.assertRaisesRegex(kind, text) as caught:
            call()
        self.assertNotIn("\n", str(caught.exception))

    def test_a_budget_below_the_least_names_it(self):
        compiled = ebb.torch.compile(convolutions(2), activations=100_000, time_limit=1.0)
        self.one_line(ebb.OverBudget, r"smallest found needs \d+ bytes", lambda: compiled(torch.ones(X)).sum().backward())

    def test_a_total_below_the_parameters(self):
        compiled = ebb.torch.compile(convolutions(2), budget=1000)
        self.one_line(ebb.OverBudget, "parameters, buffers and optimizer states take", lambda: compiled(torch.ones(X)))

    def test_what_a_budget_is(self):
        for kind, budget in ((ValueError, "11 apples"), (ValueError, 1.5), (ValueError, 0), (TypeError, [1])):
            with self.subTest(budget=budget):
                self.one_line(kind, ".", lambda: ebb.torch.compile(convolutions(1), budget=budget))
        self.one_line(ValueError, "above 0", lambda: ebb.torch.compile(convolutions(1), activations=-1))
        self.one_line(TypeError, "a module or a function", lambda: ebb.torch.compile(3))
        self.one_line(ValueError, "backend", lambda: ebb.torch.compile(convolutions(1), backend="cudnn"))

    def test_a_report_before_a_step(self):
        self.one_line(ValueError, "no plan yet", lambda: ebb.torch.report(ebb.torch.compile(convolutions(1)), "x.html"))

    def test_sharded_parameters(self):
        class FSDPLinear(nn.Linear):
            pass

        self.one_line(ValueError, "shard them", lambda: ebb.torch.compile(FSDPLinear(2, 2)))

    def test_what_torch_compile_can_not_trace(self):
        class Bad(nn.Module):
            def __init__(self, leaf):
                super().__init__()
                self.leaf, self.layer = leaf, nn.Linear(8, 8)

            def forward(self, x):
                if self.leaf:
                    self.layer.weight.add_(1.0)
                return self.layer(x if self.leaf else blind(x))

        for leaf, text in ((True, r"test_programs.py, line \d+: a leaf Variable"), (False, "no fake impl registered for .*ebb_test::blind")):
            with self.subTest(text):
                torch._dynamo.reset()
                model = Bad(leaf)
                self.one_line(RuntimeError, text, lambda: ebb.torch.compile(model, budget=0.9)(torch.ones(4, 8)))

    def test_a_step_without_a_loss(self):
        x = torch.ones(4, 8)
        for model, loss, text in (
            (nn.Linear(8, 8), lambda m, x: m(x), "to be a scalar"),
            (nn.Linear(8, 8), lambda m, x: None, "returned NoneType"),
            (nn.Linear(8, 8).requires_grad_(False), lambda m, x: m(x).sum(), "does not require gradients"),
        ):
            with self.subTest(text):
                self.one_line(ValueError, text, lambda: ebb.torch.fit(model, [x], loss, "1MiB"))
        torch._dynamo.reset()
        with self.assertWarnsRegex(UserWarning, "nothing in this call asks for gradients"):
            ebb.torch.compile(nn.Linear(8, 8).requires_grad_(False), budget=0.9)(x)

    def test_a_release_that_is_too_old_or_lacks_something(self):
        private = ebb.torch._compile.private
        with unittest.mock.patch.object(torch, "__version__", "2.9.1"):
            self.one_line(ImportError, r"PyTorch 2\.9\.1 is too old; 2\.15 is the release that is tested", lambda: importlib.reload(private))
        with unittest.mock.patch.dict(torch._functorch.partitioners.__dict__):
            del torch._functorch.partitioners._is_tangent
            self.one_line(ImportError, "lacks what the bridge needs", lambda: importlib.reload(private))

    def test_states_count_towards_a_total(self):
        model = nn.Linear(100, 100)
        sizes = [ebb.torch._budget.fixed_bytes(model, o) for o in (None, torch.optim.SGD(model.parameters(), 0.1),
                 torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), torch.optim.AdamW(model.parameters()))]
        own = 4 * 10_100
        self.assertEqual(sizes[:3], [own, own, 2 * own])
        self.assertAlmostEqual(sizes[3], 3 * own, delta=100)


if __name__ == "__main__":
    unittest.main()
