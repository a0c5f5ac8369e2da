"""PyTorch's side of gpu-check: one process a variant, which stays and runs steps when it is asked to.

    torch_worker.py VARIANT BATCH SIZE DEVICE     VARIANT: eager, fused, compile, graphs, checkpoint; + "-tf32", "-bf16", "-f16"
    stdin: a number of steps a line, before which two are run that do not count
    stdout: a line of JSON each, and one at start. {"ns": [...], "loss", "memory", "steady_peak_bytes", "overall_peak_bytes",
            "reserved_bytes"; of graphs "cudagraph_skips"}; "memory" names the key that is the variant's memory

Its duty is Ebb's: before each step its inputs are brought in from pinned memory, and complete before the clock starts.
ResNet-50 v1.5 is written out here: torchvision is not everywhere.
"""
import json
import sys
import time

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, n_in, width, stride):
        super().__init__()
        n_out = 4 * width

        def conv(a, b, k, s):
            return [nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b)]

        relu = nn.ReLU(inplace=True)
        self.body = nn.Sequential(*conv(n_in, width, 1, 1), relu, *conv(width, width, 3, stride), relu, *conv(width, n_out, 1, 1))
        self.skip = nn.Sequential(*conv(n_in, n_out, 1, stride)) if n_in != n_out or stride > 1 else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.skip(x))


class ResNet50(nn.Module):
    def __init__(self, again):
        super().__init__()
        self.again = again
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        blocks, n_in = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Block(n_in, width, stride if i == 0 else 1))
                n_in = 4 * width
        self.blocks = nn.ModuleList(blocks)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return self.fc(x.mean((2, 3)))


def set_precision(tf32):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True


def sgd(parameters, fused, cuda):
    """(optimizer, "fused", "foreach" or "single"): one kernel for all parameters, where this version and device have it;
    else what PyTorch takes by itself."""
    options = {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4}
    if fused:
        try:
            return torch.optim.SGD(parameters, fused=True, **options), "fused"
        except (TypeError, RuntimeError):
            pass
    return torch.optim.SGD(parameters, **options), "foreach" if cuda else "single"


def graph_skips():
    """How many graphs the compiler did not record, of which it only warns; None where this version does not tell."""
    try:
        return int(torch._dynamo.utils.counters["inductor"]["cudagraph_skips"])
    except (AttributeError, KeyError):
        return None


def say_skips():
    """Why graphs are skipped goes to standard error only by this."""
    try:
        torch._logging.set_logs(perf_hints=True)
    except (AttributeError, TypeError, ValueError):
        pass


AMP = {"bf16": "bfloat16", "f16": "float16"}  # of autocast; f16 with a GradScaler


class Training:
    def __init__(self, kind, amp, batch, size, device):
        self.cuda = device.startswith("cuda")
        if self.cuda:  # what waits and what tells memory is about the current device
            torch.cuda.set_device(int(device.partition(":")[2] or 0))
        if kind == "graphs":
            say_skips()
        torch.manual_seed(1)
        model = ResNet50(kind == "checkpoint").to(device, memory_format=torch.channels_last).train()
        compiled = {"compile": {}, "graphs": {"mode": "reduce-overhead"}}
        self.forward = torch.compile(model, **compiled[kind]) if kind in compiled else model
        self.n_parameters = sum(p.numel() for p in model.parameters())
        self.optimizer, self.optimizer_name = sgd(list(model.parameters()), kind in ("fused", "compile", "graphs"), self.cuda)
        held = [torch.randn(batch, 3, size, size).contiguous(memory_format=torch.channels_last), torch.randint(0, 1000, (batch,))]
        self.held = [tensor.pin_memory() if self.cuda else tensor for tensor in held]
        self.x, self.labels = (tensor.to(device) for tensor in held)
        self.kind, self.loss, self.most, self.type = kind, None, 0, device.partition(":")[0]
        self.amp = getattr(torch, AMP[amp]) if amp in AMP else None
        self.scaler = torch.amp.GradScaler(self.type) if amp == "f16" else None
        self.state = model.state_dict()
        self.first = {name: tensor.cpu().clone() for name, tensor in self.state.items()}

    def begin_again(self):
        """From the first parameters, as each of Ebb's runs begins: power, and so the clock, depend on the numbers."""
        with torch.no_grad():
            for name, tensor in self.state.items():
                tensor.copy_(self.first[name])
        self.optimizer.state.clear()

    def bring(self):
        self.x.copy_(self.held[0], non_blocking=True)
        self.labels.copy_(self.held[1], non_blocking=True)
        self.wait()

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def step(self):
        if self.kind == "graphs":
            torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.type, self.amp, enabled=self.amp is not None):
            self.loss = nn.functional.cross_entropy(self.forward(self.x), self.labels)
        if self.scaler is None:
            self.loss.backward()
            self.optimizer.step()
            return
        self.scaler.scale(self.loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def timed(self):
        self.loss = None
        self.bring()
        begin = time.perf_counter_ns()
        self.step()
        self.wait()
        return time.perf_counter_ns() - begin

    def run(self, n):
        """n steps behind two that find again what the cache gave back, and the memory of each kind."""
        self.begin_again()
        for _ in range(2):
            self.timed()
        if self.cuda:
            self.most = max(self.most, torch.cuda.max_memory_allocated())
            torch.cuda.reset_peak_memory_stats()
        told = {"ns": [self.timed() for _ in range(n)]}
        told["loss"], self.loss = float(self.loss.detach()), None
        if self.kind == "graphs":
            told["cudagraph_skips"] = graph_skips()
        if self.cuda:
            told.update(self.memory())
            torch.cuda.empty_cache()  # the other variants share the device
        return told

    def memory(self):
        """Replays do not call the allocator: the peak of what it gave out leaves out what graphs keep for themselves."""
        if self.kind == "graphs":
            return {"memory": "reserved_bytes", "reserved_bytes": torch.cuda.memory_reserved()}
        steady = torch.cuda.max_memory_allocated()
        self.most = max(self.most, steady)
        return {"memory": "steady_peak_bytes", "steady_peak_bytes": steady, "overall_peak_bytes": self.most,
                "reserved_bytes": torch.cuda.max_memory_reserved()}


def main():
    variant, batch, size, device = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    kind, _, end = variant.partition("-")
    set_precision(end == "tf32")
    training = Training(kind, end, batch, size, device)
    print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                      "amp": end if end in AMP else None, "n_params": training.n_parameters, "optimizer": training.optimizer_name,
                      "tf32": [torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32]}), flush=True)
    for line in sys.stdin:
        print(json.dumps(training.run(int(line))), flush=True)


if __name__ == "__main__":
    main()
