#!/usr/bin/env python3
"""`ebb pack` on every CSV file of a folder, beside another program in the same run.

    pack.py EBB FOLDER [--capacity BYTES] [--limit SECONDS] [--repeat N] [--peer 'COMMAND {input} {capacity}']

Without --capacity each file is packed as low as can be, and the peer is given the most live bytes. The figures are
user CPU seconds of the whole process, the least of N runs that take turns: other work on the machine disturbs those
less than the wall clock."""
import argparse
import json
import os
import pathlib
import resource
import shlex
import subprocess


def user_seconds():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def run(command, limit):
    before = user_seconds()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, user_seconds() - before
    return done, user_seconds() - before


def pack(ebb, path, options):
    command = [ebb, "pack", str(path), "--json", "--time-limit", str(options.limit)]
    if options.capacity is not None:
        command += ["--capacity", str(options.capacity)]
    done, seconds = run(command, 4 * options.limit + 60)
    if done is None or not done.stdout:
        return None, seconds
    return json.loads(done.stdout), seconds


def beside(options, path, answer):
    capacity = options.capacity if options.capacity is not None else answer["lower_bound"]
    command = [word.replace("{input}", str(path)).replace("{capacity}", str(capacity))
               for word in shlex.split(options.peer)]
    done, seconds = run(command, options.limit)
    return seconds, "late" if done is None else "ok" if done.returncode == 0 else f"exit {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ebb")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--capacity", type=int)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--peer")
    options = parser.parse_args()
    print(f"{'file':28} {'verdict':10} {'height':>14} {'gap':>9} {'proven':6} {'by':8} {'user s':>8}"
          + (f" {'peer s':>8} peer" if options.peer else ""))
    for path in sorted(options.folder.glob("*.csv")):
        seconds, peer_seconds, peer, answer = [], [], "", None
        for _ in range(options.repeat):
            answer, took = pack(os.path.abspath(options.ebb), path, options)
            seconds.append(took)
            if options.peer and answer is not None:
                took, peer = beside(options, path, answer)
                peer_seconds.append(took)
        if answer is None:
            print(f"{path.name:28} failed", flush=True)
            continue
        print(f"{path.name:28} {answer['verdict']:10} {answer['height']:14} {100 * answer['gap']:8.3f}% "
              f"{'yes' if answer['proven'] else 'no':6} {answer['found_by']:8} {min(seconds):8.3f}"
              + (f" {min(peer_seconds):8.3f} {peer}" if peer_seconds else ""), flush=True)


if __name__ == "__main__":
    main()
