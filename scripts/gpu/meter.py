"""Clocks and power of the device while something runs, as nvidia-smi samples them: where it is there."""
import os
import select
import shutil
import signal
import statistics
import subprocess

import machine

# New drivers' words, and old ones': power.draw may be a mean of the last second.
POWERS = ("power.draw.instant", "power.draw")
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
PERIOD_MS = 100
FIRST_S = 3  # for the first sample, before the work begins
WORK_WATTS = 20  # a device that works takes at least so much more than the least that was seen


def query(bus_id, fields):
    return ["nvidia-smi", "-i", bus_id, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]


def fields_of(device, bus_id):
    """The fields that this driver knows and tells, or None without nvidia-smi or a device that it could tell of."""
    if not shutil.which("nvidia-smi") or not device.startswith("cuda") or not bus_id:
        return None
    for fields in (f"clocks.sm,{power},{reasons}" for power in POWERS for reasons in REASONS):
        code, out, _ = machine.run(query(bus_id, fields), 20)
        if code == 0 and samples_of(out.decode(errors="replace")):
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


def summary(samples, idle_watts):
    """Of the samples in which the device worked: power at least 0.7 of the largest. Processes also start and wait; where all
    do so, clocks would be an idle device's: None."""
    most = max((watts for _, watts, _ in samples), default=0)
    if not samples or most < idle_watts + WORK_WATTS:
        return None
    busy = [sample for sample in samples if sample[1] >= max(0.7 * most, idle_watts + WORK_WATTS)]
    clocks, watts = [sample[0] for sample in busy], [sample[1] for sample in busy]
    return {"samples": len(busy), "mhz": statistics.median(clocks), "least_mhz": min(clocks), "watts": statistics.median(watts),
            "most_watts": most, "idle_watts": idle_watts, "reasons": sorted({sample[2] for sample in busy})}


class Meter:
    def __init__(self, device):
        self.bus_id = machine.bus_id(device) if device.startswith("cuda") else None
        self.fields = fields_of(device, self.bus_id)
        self.process, self.samples, self.waits_s = None, {}, FIRST_S

    def of(self, name):
        self.name = name
        return self

    def __enter__(self):
        if self.fields:
            self.process = subprocess.Popen([*query(self.bus_id, self.fields), "-lms", str(PERIOD_MS)], stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, start_new_session=True)
            ready, _, _ = select.select([self.process.stdout], [], [], self.waits_s)
            if not ready:
                self.waits_s = 0  # it holds its lines back: waiting at each turn would cost more than it tells

    def __exit__(self, *_):
        if self.process:
            os.killpg(self.process.pid, signal.SIGTERM)
            out, _ = self.process.communicate()
            self.samples.setdefault(self.name, []).extend(samples_of(out.decode(errors="replace")))
            self.process = None

    def told(self, name):
        """Idle is the least of all turns: each begins before its work does."""
        idle_watts = min((watts for samples in self.samples.values() for _, watts, _ in samples), default=0)
        return summary(self.samples.get(name, []), idle_watts)
