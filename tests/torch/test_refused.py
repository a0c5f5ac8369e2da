"""What is refused, in one line."""

import importlib
import unittest
import unittest.mock

import torch
from torch import nn

import ebb
import ebb.torch
from common import convolutions

X = (8, 3, 16, 16)


@torch.library.custom_op("ebb_test::blind", mutates_args=())
def blind(x: torch.Tensor) -> torch.Tensor:
    return x * 2


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
        self.one_line(ValueError, "write budget=0.5", lambda: ebb.torch.compile(convolutions(1), activations=0.5))
        self.one_line(TypeError, "a module or a function", lambda: ebb.torch.compile(3))
        self.one_line(ValueError, "backend", lambda: ebb.torch.compile(convolutions(1), backend="cudnn"))

    def test_a_device_whose_peak_is_not_known(self):
        self.one_line(ValueError, "peaks are known of", lambda: ebb.torch.peak_bytes(lambda: None, "meta"))

    def test_a_report_before_a_step(self):
        self.one_line(ValueError, "no plan yet", lambda: ebb.torch.report(ebb.torch.compile(convolutions(1)), "x.html"))
        self.one_line(TypeError, "give a path: ", lambda: ebb.torch.report(ebb.torch.compile(convolutions(1))))
        self.one_line(TypeError, "OptimizedModule: give what ebb.torch.compile returned", lambda: ebb.torch.report(torch.compile(convolutions(1)), "x"))

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

        for leaf, text in ((True, r"test_refused.py, line \d+: a leaf Variable"), (False, r"test_refused.py, line \d+: .*no fake impl registered for .*ebb_test::blind")):
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
        loss, model = lambda m, x: m(x).sum(), nn.Linear(8, 8)
        self.one_line(TypeError, "example is a function", lambda: ebb.torch.fit(model, lambda n: [torch.ones(n, 8)], loss, "1MiB"))
        self.one_line(ValueError, "is a share of what a step takes", lambda: ebb.torch.fit(model, [x], loss, 0.5))
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
