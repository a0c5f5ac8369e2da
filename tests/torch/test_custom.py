"""Ops that are not PyTorch's own: planned by what they take, and run once."""

import unittest

import torch
from torch import nn

import ebb.torch
from common import pair, peak_of_step, result, same

RUNS = []
X = (512, 32)


@torch.library.custom_op("ebb_test::smooth", mutates_args=())
def smooth(x: torch.Tensor) -> torch.Tensor:
    RUNS.append(tuple(x.shape))
    wide = x.repeat(1, 8)
    return wide.sin().view(x.shape[0], 8, -1).mean(1)


smooth.register_fake(torch.empty_like)
smooth.register_autograd(lambda ctx, g: g)


@torch.library.custom_op("ebb_test::smooth_", mutates_args=("x",))
def smooth_(x: torch.Tensor) -> None:
    x.copy_(x.repeat(1, 8).sin().view(x.shape[0], 8, -1).mean(1))


@torch.library.custom_op("ebb_test::strict", mutates_args=())
def strict(x: torch.Tensor) -> torch.Tensor:
    if x.flatten()[0] == x.flatten()[-1]:
        raise AssertionError("constants are no data")
    return x.exp()


strict.register_fake(torch.empty_like)
strict.register_autograd(lambda ctx, g: g)


TIRED = []


@torch.library.custom_op("ebb_test::tired", mutates_args=())
def tired(x: torch.Tensor) -> torch.Tensor:
    """Raises on made-up numbers after two runs on them."""
    if x.flatten()[0] == x.flatten()[-1]:
        TIRED.append(tuple(x.shape))
        if len(TIRED) > 2:
            raise AssertionError("enough of constants")
    return x.exp()


tired.register_fake(torch.empty_like)
tired.register_autograd(lambda ctx, g: g)


class Custom(nn.Module):
    def __init__(self, op, in_place=False):
        super().__init__()
        self.op, self.in_place, self.layers = op, in_place, nn.ModuleList(nn.Linear(32, 32) for _ in range(5))

    def forward(self, x):
        for layer in self.layers:
            y = torch.tanh(layer(x))
            if self.in_place:
                z = y.detach().clone()
                getattr(torch.ops.ebb_test, self.op)(z)
                x = y + z
            else:
                x = getattr(torch.ops.ebb_test, self.op)(y)
        return x


class CustomOps(unittest.TestCase):
    def test_what_they_allocate_is_planned(self):
        x = torch.randn(*X)
        for op, in_place in (("smooth", False), ("smooth_", True)):
            for backend in ("eager", "inductor"):
                for budget in (None, 0.9):
                    with self.subTest(op=op, backend=backend, budget=budget):
                        (plain, run), (twin, compiled) = pair(Custom(op, in_place), budget=budget, backend=backend, time_limit=1.0)
                        found = result(twin, compiled, x)
                        if backend == "eager":
                            self.assertTrue(same(result(plain, run, x), found))
                        self.assertGreater(compiled.planned_bytes, 16 * x.nbytes)  # the op's two wide tensors
                        self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes + 2 * x.nbytes)  # the loss is outside

    def test_a_step_runs_them_once(self):
        x = torch.randn(*X)
        (_, _), (twin, compiled) = pair(Custom("smooth"), budget=0.9, time_limit=1.0)
        result(twin, compiled, x)
        RUNS.clear()
        result(twin, compiled, x)
        self.assertEqual(RUNS, 5 * [X])

    def test_one_that_can_not_be_measured_is_named(self):
        (_, _), (twin, compiled) = pair(Custom("strict"), budget=0.9, time_limit=1.0)
        with self.assertWarnsRegex(UserWarning, r"no scratch of theirs: ebb_test.strict.default \(AssertionError: constants are no data\)"):
            result(twin, compiled, torch.randn(*X))

    def test_one_that_tires_of_being_measured_is_planned(self):
        x = torch.randn(*X)
        (plain, run), (twin, compiled) = pair(Custom("tired"), budget=0.9, time_limit=1.0)
        found = result(twin, compiled, x)
        self.assertGreater(len(TIRED), 2)
        self.assertTrue(same(result(plain, run, x), found))
        self.assertGreater(compiled.planned_bytes, 0)

    def test_collectives_wait_for_other_ranks_and_are_not_run(self):
        graph = torch.fx.Graph()
        node = graph.call_function(torch.ops._c10d_functional.all_reduce.default, (graph.placeholder("x"), "sum", "0"))
        node.meta["val"] = torch.empty(2)
        self.assertTrue(ebb.torch._costs.idle(ebb.torch._joint.Unit([node])))


if __name__ == "__main__":
    unittest.main()
