"""What ops are said to cost is what they cost in a step."""

import subprocess
import sys
import time
import unittest
import warnings

import torch
from torch import nn

import ebb.torch
from common import pair, peak_of_step, result, same

REPEATABLE = {"time_limit": 60, "effort": 300}

# In a process of its own: pages that a heap has had are not asked for again. What it prints are the pages of a step, and its bytes.
PAGES = """
import resource, torch, ebb.torch
from test_costs import Scan
torch.manual_seed(0)
model, x = Scan(), torch.randn(16, 32, 128)
step = ebb.torch.compile(model, budget=0.85, time_limit=60, effort=300)
for _ in range(3):
    step(x).backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    step(x).backward()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 4, step.planned_bytes // resource.getpagesize())
"""


class Solved(nn.Module):
    """Ops that check their operands: rows that are counted from 1, a number that says whether it went well."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(16, 64)

    def forward(self, x):
        a = self.inner(x).view(-1, 8, 8)
        a = a @ a.mT + torch.eye(8)
        return torch.linalg.solve(a, torch.linalg.cholesky(a)).square().mean() + torch.linalg.inv(a).square().mean()


class Marked(nn.Module):
    """A loss against targets that a mask and labels fill in, as detectors have it."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(16, 64)
        self.register_buffer("mask", torch.arange(128).view(4, 32) % 3 == 0)
        self.register_buffer("labels", torch.arange(43) % 64)

    def forward(self, x):
        logits = self.inner(x)
        target = torch.zeros_like(logits)
        target[self.mask, self.labels] = 1.0
        return nn.functional.binary_cross_entropy_with_logits(logits, target)


class Scan(nn.Module):
    """A recurrence in plain steps: each one's gradient is a whole tensor of zeros but for a slice."""

    def __init__(self):
        super().__init__()
        self.decay, self.write = nn.Linear(128, 1024), nn.Linear(128, 1024)

    def forward(self, x):
        decay, write = torch.sigmoid(self.decay(x)), self.write(x)
        state, made = torch.zeros_like(decay[:, 0]), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + write[:, t]
            made.append(state.sum(-1))
        return torch.stack(made).square().mean()


class Short(nn.Module):
    """Many ops of a few elements."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x):
        for _ in range(150):
            x = torch.tanh(x * self.scale)
        return x


class Costs(unittest.TestCase):
    def test_a_step_asks_for_no_pages_that_it_had(self):
        ran = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True, check=True)
        pages, planned = map(int, ran.stdout.split())
        self.assertLess(pages, 0.5 * planned)

    def test_a_scan_in_steps_keeps_its_bits_and_peak(self):
        torch.manual_seed(0)
        (plain, run), (twin, compiled) = pair(Scan(), budget=0.85, **REPEATABLE)
        x = torch.randn(4, 32, 128)
        self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
        self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_short_ops_take_what_they_take_without_a_profiler(self):
        (_, _), (twin, compiled) = pair(Short())
        x = torch.randn(16)
        result(twin, compiled, x)
        facts = compiled.plans[0]
        said = sum(op["time_ns"] for op in facts.ops if op["kind"] in ("mul.Tensor", "tanh.default") and op["phase"] == "forward")
        with torch.no_grad():
            alone = min(self.forward_ns(twin.scale, x) for _ in range(50))
        self.assertLess(said, 1.8 * alone)

    def forward_ns(self, scale, x):
        began = time.thread_time_ns()
        for _ in range(150):
            x = torch.ops.aten.tanh.default(torch.ops.aten.mul.Tensor(x, scale))
        return time.thread_time_ns() - began

    def test_ops_that_check_what_they_are_given_are_measured(self):
        for model, budget, shape in ((Solved(), 0.9, (32, 16)), (Marked(), None, (4, 32, 16))):
            torch.manual_seed(0)
            x = torch.randn(*shape)
            with warnings.catch_warnings():
                warnings.filterwarnings("error", message="ebb.torch: not measured")
                (plain, run), (twin, compiled) = pair(model, budget=budget, **REPEATABLE)
                self.assertTrue(same(result(plain, run, x), result(twin, compiled, x)))
            self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_views_are_paid_for_by_those_that_read_them(self):
        class Views(nn.Module):
            def forward(self, x, y):
                return (x.t().t().t().t().t() * y).sum() + (x * y.t()).sum()

        torch._dynamo.reset()
        x, y = torch.randn(8, 8, requires_grad=True), torch.randn(8, 8)
        compiled = ebb.torch.compile(Views())
        compiled(x, y).backward()
        first, second = (op["time_ns"] for op in compiled.plans[0].ops if op["kind"] == "mul.Tensor" and op["phase"] == "forward")
        view = ebb.torch._clock.VIEWS[torch.ops.aten.t.default]
        self.assertGreater(view, 0)
        self.assertGreater(first, second + 2 * view)


if __name__ == "__main__":
    unittest.main()
