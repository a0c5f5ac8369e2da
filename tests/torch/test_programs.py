"""What programs do around a step: breaks, marks, accumulation, autocast, optimizers, processes."""

import gc
import os
import unittest
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

    def test_a_compiled_model_has_its_model_s_state_once(self):
        compiled = self.both(convolutions(1), torch.randn(*X), budget=0.9)
        self.assertEqual(list(compiled.state_dict()), [f"_orig_mod.{name}" for name in compiled.model.state_dict()])
        compiled.eval()
        with torch.no_grad():
            self.assertTrue(torch.equal(compiled(torch.ones(X)), compiled.model(torch.ones(X))))

    def test_another_batch_gets_a_plan_of_its_own(self):
        compiled = self.both(convolutions(3), torch.randn(*X), dynamic=False)
        compiled(torch.randn(4, 3, 16, 16)).sum().backward()
        compiled(torch.randn(*X)).sum().backward()
        self.assertEqual(len(compiled.plans), 2)
        self.assertLess(compiled.plans[1].planned_bytes, compiled.plans[0].planned_bytes)
        self.assertEqual(compiled.planned_bytes, compiled.plans[0].planned_bytes)

    def test_sizes_that_are_symbols(self):
        model, sizes = nn.Sequential(*[Attention() for _ in range(3)]), (6, 3, 9)
        (plain, run), (twin, compiled) = pair(model, budget=0.7, dynamic=True, time_limit=1.0)
        for n in sizes:
            x = torch.randn(n, 64, 32)
            self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        self.assertEqual(len(compiled.plans), 1)
        self.assertGreater(compiled.plans[0].n_recomputed, 0)

    def test_ops_of_symbols_are_measured_by_their_numbers(self):
        class Numbered(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)

            def forward(self, x):
                return self.layer(x) * torch.arange(3 * x.shape[0], dtype=torch.float32)[: x.shape[0], None].sin()

        def measured():
            return sum("arange" in str(key[0]) for key in ebb.torch._costs.MEASURED)

        for n in (16, 5000):
            before = measured()
            ebb.torch.compile(Numbered(), dynamic=True)(torch.randn(n, 8)).sum().backward()
            self.assertEqual(measured(), before + 1)

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

    def test_gradients_that_are_kept_beside_a_step_s_are_told(self):
        x = torch.randn(*X)
        (_, _), (twin, free) = pair(convolutions(3))
        result(twin, free, x)
        model = convolutions(3)
        total = free.planned_bytes + ebb.torch._budget.fixed_bytes(model, None)
        for room in (0, 1 << 22):
            with self.subTest(room=room), warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                (_, _), (_, compiled) = pair(model, budget=total + room)
                for _ in range(3):
                    compiled(x).square().mean().backward()
                told = [w for w in seen if "are kept beside those of this step" in str(w.message)]
                self.assertEqual(len(told), 0 if room else 1)

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
        self.assertLessEqual(kinds, {"Backend", "Budget", "Compiled", "GraphPlan", "Sizes", "At", "Solver", "Waiting"})  # Sizes, At: a plan's bytes at other sizes; Waiting: a call
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
            def __init__(self, first):
                super().__init__()
                self.first, self.layers = first, nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])

            def forward(self, x):
                x = self.first(x)
                for layer in self.layers:
                    (chosen,) = torch.where(x[:, 0] > 0)  # its size is known when it has run
                    x = x.index_add(0, chosen, layer(x[chosen]))
                return x

        class First(nn.Linear):
            def forward(self, x):
                return torch.tanh(super().forward(x))

        x = torch.randn(16, 8)
        for first, text in ((First(8, 8), "parts of the model run outside of graphs"), (nn.Identity(), "budget is NOT in force: Dynamic shape operator;")):
            (plain, run), (twin, compiled) = pair(Loop(first), budget=1.0)
            with self.assertWarnsRegex(UserWarning, text):
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


if __name__ == "__main__":
    unittest.main()
