"""Gradients that lie otherwise than their parameters: autograd's copies of them are counted."""

import unittest

import torch
from torch import nn

import ebb.torch
from common import pair, peak_of_step, result, same


class Merged(nn.Module):
    """Tokens are merged by a convolution, whose weight's gradient lies with channels last."""

    def __init__(self):
        super().__init__()
        self.inner, self.merge = nn.Sequential(*[nn.Linear(256, 256) for _ in range(16)]), nn.Conv2d(256, 256, 2, stride=2)

    def forward(self, x):
        return self.merge(self.inner(x).transpose(1, 2).unflatten(2, (2, 2)))


class Beside(nn.Module):
    """Two parameters are columns of one matrix, and so are their gradients."""

    def __init__(self, *strides):
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.randn(256, 128).as_strided((256, 128), strides)) for _ in range(2)])

    def forward(self, x):
        return torch.cat(list(self.parts), 1) @ x


class Gradients(unittest.TestCase):
    def check(self, model, *shape, **options):
        x = torch.randn(*shape)
        (plain, run), (twin, compiled) = pair(model, **options)
        got = result(twin, compiled, x)
        self.assertTrue(same(result(plain, run, x), got))
        for parameter, alike in zip(twin.parameters(), plain.parameters()):
            self.assertEqual(parameter.grad.stride(), alike.grad.stride())
        self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)

    def test_a_convolution_of_tokens(self):
        torch.manual_seed(0)
        self.check(Merged(), 2, 4, 256)

    def test_parts_of_a_matrix(self):
        torch.manual_seed(0)
        for strides in ((128, 1), (1, 256), (64, 1)):  # the last is not dense: its gradient is kept in rows
            self.check(Beside(*strides), 256)

    def test_inputs_that_are_no_leaves_are_let_be(self):
        torch._dynamo.reset()
        wide = torch.randn(256, 256, requires_grad=True)
        compiled = ebb.torch.compile(lambda a, x: (a @ x).square().mean())
        compiled(wide.t().mul(2), torch.randn(256)).backward()
        self.assertNotIn("clone.default", [op["kind"] for op in compiled.plans[0].ops])

    def test_groups(self):
        torch.manual_seed(0)
        (_, _), (twin, compiled) = pair(Merged(), backend="inductor")
        x = torch.randn(2, 4, 256)
        result(twin, compiled, x)
        self.assertLessEqual(peak_of_step(twin, compiled, x), 1.01 * compiled.planned_bytes)


if __name__ == "__main__":
    unittest.main()
