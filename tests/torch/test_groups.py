"""Models of several processes, here in a group of one."""

import copy
import unittest

import torch
from torch import nn

import ebb.torch
from common import Attention, result, same


@unittest.skipUnless(torch.distributed.is_available(), "PyTorch without torch.distributed")
class Groups(unittest.TestCase):
    def in_a_group(self, run):
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            torch._dynamo.reset()
            run()
        finally:
            torch.distributed.destroy_process_group()

    def test_ddp(self):
        def run():
            model = nn.parallel.DistributedDataParallel(nn.Sequential(*[Attention() for _ in range(3)]))
            plain = [p.clone() for p in result(model, model, torch.ones(4, 64, 32))]
            compiled = ebb.torch.compile(model, budget=0.9, time_limit=1.0)
            self.assertTrue(same(plain, result(model, compiled, torch.ones(4, 64, 32))))
            self.assertTrue(compiled.plans)
            torch._dynamo.reset()
            plain = nn.Sequential(nn.Linear(32, 32), nn.GELU())  # whose code torch.compile takes for PyTorch's own
            outside = ebb.torch.compile(nn.parallel.DistributedDataParallel(plain), budget=0.9, time_limit=1.0)
            with self.assertWarnsRegex(UserWarning, r"budget is NOT in force: wrap the compiled model, DistributedDataParallel\(ebb"):
                outside(torch.ones(4, 32))
            inside = ebb.torch.compile(plain, budget=1.0, time_limit=1.0)
            nn.parallel.DistributedDataParallel(inside)(torch.ones(4, 32)).sum().backward()
            self.assertTrue(inside.plans)

        self.in_a_group(run)

    def test_fsdp_of_compiled_blocks(self):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        def run():
            mesh, x, found = init_device_mesh("cpu", (1,)), torch.ones(4, 64, 32), []
            whole = nn.Sequential(*[Attention() for _ in range(2)])
            for compiled in (False, True):
                model = copy.deepcopy(whole)
                for i in range(len(model) if compiled else 0):
                    model[i] = ebb.torch.compile(model[i], budget=0.92, time_limit=0.5)
                for part in (*model, model):
                    fully_shard(part, mesh=mesh)
                torch.manual_seed(5)
                loss = model(x).square().mean()
                loss.backward()
                found.append([loss.detach(), *(p.grad.full_tensor() for p in model.parameters())])
            self.assertTrue(same(*found))
            self.assertTrue(all(block.plans[0].n_recomputed for block in model))
            with self.assertRaisesRegex(ValueError, "compile its blocks, and then shard them"):
                ebb.torch.compile(model)

        self.in_a_group(run)


if __name__ == "__main__":
    unittest.main()
