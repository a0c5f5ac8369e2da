#!/usr/bin/env python3
"""The README's C program is the example's, compiles against the library as a user would, and runs.

    test_readme.py SOURCE-ROOT BUILD-ROOT SANITIZERS
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def say(*command, env=None, cwd=None):
    return subprocess.run(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def rows(source, build, sanitizers, folder):
    """(what must hold, whether it does, what was seen)"""
    readme = (source / "README.md").read_text()
    example = (source / "examples/minimal/minimal.c").read_text()
    programs = re.findall(r"^```c\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    yield "the README shows one C program", len(programs) == 1, str(len(programs))
    yield "it is examples/minimal/minimal.c", programs[:1] == [example], ""
    root = folder / "root"
    installed = say("meson", "install", "-C", str(build), "--no-rebuild", "--quiet", "--destdir", str(root))
    configs = list(root.glob("**/ebb.pc"))
    yield "the library installs", installed.returncode == 0 and len(configs) == 1, installed.stdout
    if not configs:
        return
    env = {**os.environ, "PKG_CONFIG_PATH": str(configs[0].parent), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    flags = say("pkg-config", "--cflags", "--libs", "ebb", env=env)
    yield "pkg-config knows it", flags.returncode == 0, flags.stdout
    (folder / "readme.c").write_text(programs[0] if programs else "")
    extra = [] if sanitizers == "none" else [f"-fsanitize={sanitizers}"]
    built = say("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *extra, "readme.c", "-o", "readme",
                *shlex.split(flags.stdout), f"-Wl,-rpath,{configs[0].parent.parent}", cwd=folder)
    yield "the program compiles without a warning", built.returncode == 0, built.stdout
    if built.returncode:
        return
    ran = say(str(folder / "readme"), cwd=folder)
    yield "it runs", ran.returncode == 0, ran.stdout
    loss = re.search(r"loss (\d+\.\d+) in \d+ bytes", ran.stdout)
    yield "it learns", loss is not None and float(loss[1]) < 0.5, ran.stdout


def main():
    source, build, sanitizers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    counts = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as name:
        for what, holds, seen in rows(source, build, sanitizers, pathlib.Path(name)):
            counts[holds] += 1
            if not holds:
                print(f"FAIL {what}: {seen}")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
