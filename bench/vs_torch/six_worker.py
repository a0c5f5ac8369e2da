"""PyTorch's side of six_models: a process of one variant of one model.

    six_worker.py MODEL VARIANT THREADS [NAME=SIZE ...]       VARIANT: eager, channels_last, compile

Each line of standard input is a number of training steps; the answer is a JSON line: their times, and the process's peak
above what it had before there was a model.
"""
import json
import sys
import time

import six
import torch


def status(name):
    """Bytes of a line of /proc/self/status: VmRSS, VmHWM."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def main():
    name, variant, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    dims = {key: int(size) for key, size in (word.split("=") for word in sys.argv[4:])}
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    idle_bytes = status("VmRSS")
    model, x, labels = six.made(name, dims)
    model.train()
    if variant != "eager" and x.dim() == 4:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    run = torch.compile(model) if variant == "compile" else model
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for line in sys.stdin:
        ns = []
        for _ in range(int(line)):
            begin = time.perf_counter_ns()
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(run(x), labels)
            loss.backward()
            optimizer.step()
            loss.item()
            ns.append(time.perf_counter_ns() - begin)
        print(json.dumps({"ns": ns, "above_bytes": status("VmHWM") - idle_bytes, "torch": torch.__version__}), flush=True)


main()
