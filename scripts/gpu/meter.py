"""Clocks and power of the device while something runs, as nvidia-smi samples them: where it is there."""
import os
import shutil
import signal
import statistics
import subprocess

import machine

REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # new drivers' word, and old ones'
PERIOD_MS = 100


def fields_of(device):
    """The fields that this driver knows, or None without nvidia-smi or a device that it could tell of."""
    if not shutil.which("nvidia-smi") or not device.startswith("cuda"):
        return None
    for reasons in REASONS:
        fields = f"clocks.sm,power.draw,{reasons}"
        code, _, _ = machine.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"], 20)
        if code == 0:
            return fields
    return None


def samples_of(text):
    """[(MHz, W, reasons)] of what it printed; a line that was cut, or says that it does not know, is none."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        try:
            found.append((float(cells[0]), float(cells[1]), cells[2]))
        except (ValueError, IndexError):
            continue
    return found


def summary(samples):
    """Of the samples in which the device worked: power at least 0.7 of the largest. Processes also start and wait."""
    if not samples:
        return None
    most = max(watts for _, watts, _ in samples)
    busy = [sample for sample in samples if sample[1] >= 0.7 * most]
    clocks, watts = [sample[0] for sample in busy], [sample[1] for sample in busy]
    return {"samples": len(busy), "mhz": statistics.median(clocks), "least_mhz": min(clocks), "watts": statistics.median(watts), "most_watts": most,
            "reasons": sorted({sample[2] for sample in busy})}


class Meter:
    def __init__(self, device):
        self.fields = fields_of(device)
        self.ordinal = device.partition(":")[2] or "0"
        self.process, self.samples = None, {}

    def of(self, name):
        self.name = name
        return self

    def __enter__(self):
        if self.fields:
            self.process = subprocess.Popen(["nvidia-smi", "-i", self.ordinal, f"--query-gpu={self.fields}", "--format=csv,noheader,nounits",
                                             "-lms", str(PERIOD_MS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)

    def __exit__(self, *_):
        if self.process:
            os.killpg(self.process.pid, signal.SIGTERM)
            out, _ = self.process.communicate()
            self.samples.setdefault(self.name, []).extend(samples_of(out.decode(errors="replace")))
            self.process = None

    def told(self, name):
        return summary(self.samples.get(name, []))
