"""A process that may not take more address space (ulimit -v): the model trains there within a budget, and does not without one."""

import os
import resource
import subprocess
import sys
import unittest

import torch
from torch import nn

STEPS = 2
MORE_BYTES = 260 << 20  # than the process has when the limit is set; a step without a budget takes 336 MiB


def make():
    torch.manual_seed(1)
    layers = [nn.Sequential(nn.Linear(96, 96), nn.GELU(), nn.Dropout(0.1)) for _ in range(24)]
    return nn.Sequential(*layers, nn.Linear(96, 1))


def train(model, run):
    x = torch.linspace(-1, 1, (1 << 14) * 96).view(-1, 96)
    torch.manual_seed(2)
    for _ in range(STEPS):
        run(x).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None
    return [p.detach() for p in model.parameters()]


def address_space():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limited():
    import ebb.torch

    torch.set_num_threads(1)
    budgeted, plain, free = make(), make(), make()
    first = nn.Linear(96, 1)
    train(first, ebb.torch.compile(first))  # what compiling imports is no part of the step
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + MORE_BYTES, limit[1]))
    step = ebb.torch.compile(budgeted, activations="90MiB", time_limit=1.0)
    within = train(budgeted, step)
    print(f"within {step.planned_bytes} bytes, {step.plans[0].bytes_in_order} in PyTorch's order")
    try:
        train(plain, plain)
        print("fits without a budget")
    except RuntimeError as error:
        print("without:", str(error).splitlines()[0])
    resource.setrlimit(resource.RLIMIT_AS, limit)
    print("equal" if all(map(torch.equal, within, train(free, free))) else "not equal")


class Limit(unittest.TestCase):
    def test_a_model_that_does_not_fit_trains_within_a_budget(self):
        # glibc gives large blocks back at once, and reserves no address space for threads.
        environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
        command = [sys.executable, __file__, "limited"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertRegex(done.stdout, r"(?m)^without: .*(can't allocate|not enough) memory")
        self.assertRegex(done.stdout, r"(?m)^equal$")


if __name__ == "__main__":
    limited() if sys.argv[1:] == ["limited"] else unittest.main()
