"""What PyTorch's allocators give out while something runs."""

import torch
from torch.profiler import ProfilerActivity, profile


def changes_of(session):
    """[(ns, bytes)] of a profiler's session with profile_memory, in the order of time."""
    return sorted((e.start_ns(), e.nbytes()) for e in session.profiler.kineto_results.events() if e.name() == "[memory]")


def peak_bytes(step, device="cpu"):
    """The most that tensors on the device take during step(), above what they took before it: to be compared with `planned_bytes`."""
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    if device.type != "cpu":
        raise ValueError(f"device {str(device)!r}: peaks are known of \"cpu\" and \"cuda\"")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as session:
        step()
    live = peak = 0
    for _, n_bytes in changes_of(session):
        live += n_bytes
        peak = max(peak, live)
    return peak
