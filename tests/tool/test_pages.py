#!/usr/bin/env python3
"""Completions and man pages: that nothing of the tables is missing, that they parse, and what bash completes.

    test_pages.py EBB SOURCE-ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

from tester import equal, holds, main

COMPLETIONS = ("ebb.bash", "_ebb", "ebb.fish")


def page(t, name):
    return t.ebb_run("generate", name).stdout.decode()


def commands(t):
    """Those that help lists, each with its flags as help prints them."""
    overview = t.ebb_run("help").stdout.decode()
    names = re.findall(r"^  ([a-z]+) ", overview, re.M)[:-1]  # the last one is "ebb help COMMAND"
    return {name: re.findall(r"^  (?:-(\w),|   ) --([a-z0-9-]+)(\[=| [A-Z]|  )", t.ebb_run("help", name).stdout.decode(), re.M)
            for name in names}


def every_command_and_flag_is_in_every_page(t):
    pages = {name: page(t, name) for name in COMPLETIONS}
    all_pages = page(t, "ebb.1")
    found = commands(t)
    holds(len(found) >= 11 and len(found["plan"]) > 20 and "generate" not in found, found)
    for command, flags in found.items():
        manual = page(t, f"ebb-{command}.1")
        holds(f"ebb\\-{command} (1)" in all_pages, f"{command} in ebb.1")
        bash = re.search(rf"^    {command}\) flags='([^']*)'", pages["ebb.bash"], re.M).group(1).split()
        zsh = re.search(rf"^    {command}\)\n(.*?)^        ;;", pages["_ebb"], re.M | re.S).group(1)
        equal(sorted(word for word in bash if "=" not in word),
              sorted([f"--{name}" for _, name, _ in flags] + [f"-{letter}" for letter, _, _ in flags if letter]), command)
        equal(len(re.findall(r"^        '[^:\n]*--", zsh, re.M)), len(flags), f"{command} in _ebb")
        holds(f"-a {command} -d '" in pages["ebb.fish"], f"{command} in ebb.fish")
        for letter, name, value in flags:
            holds("\\fB\\-\\-" + name.replace("-", "\\-") + "\\fR" in manual, f"--{name} in ebb-{command}.1")
            holds(re.search(rf"--{name}(=-?)?(\[|}})", zsh), f"--{name} of {command} in _ebb")
            holds(re.search(rf"^complete -c ebb -n '__fish_seen_subcommand_from[^']* {command}\b[^']*' -l {name} ",
                            pages["ebb.fish"], re.M), f"--{name} of {command} in ebb.fish")
            if letter:
                holds(f"\\fB\\-{letter}\\fR" in manual, f"-{letter} in ebb-{command}.1")


def the_build_installs_them_all(t):
    build = (pathlib.Path(sys.argv[2]) / "src/tool/meson.build").read_text()
    listed = re.search(r"foreach name : \[([^]]*)\]", build).group(1)
    equal(sorted(re.findall(r"'([a-z]+)'", listed)), sorted(commands(t)), "man pages of the build")
    for name in COMPLETIONS:
        holds(f"['{name}'," in build, name)


def they_parse(t):
    for name in COMPLETIONS:
        (t.folder / name).write_text(page(t, name))
    checks = [("bash", "-n", "ebb.bash"), ("bash", "-n", "_ebb"), ("zsh", "-n", "_ebb"), ("fish", "-n", "ebb.fish")]
    for command in [*commands(t), None]:
        name = f"ebb-{command}.1" if command else "ebb.1"
        (t.folder / name).write_text(page(t, name))
        checks += [("mandoc", "-Tlint", "-Wwarning", name), ("groff", "-man", "-Tutf8", "-ww", "-z", name)]
    equal(shutil.which("bash") is not None, True, "a bash to ask")
    for check in checks:
        if shutil.which(check[0]) is None:
            continue
        done = subprocess.run(check, cwd=t.folder, capture_output=True, text=True, check=False)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]
        equal(lines, [], " ".join(check))


def complete(t, *words):
    """What bash offers for the last word."""
    script = ('source ./ebb.bash\ncompopt() { echo "compopt $*" >&2; }\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n'
              '_ebb\nprintf "%s\\n" "${COMPREPLY[@]}"\n')
    done = subprocess.run(["bash", "-c", script, "bash", "ebb", *words], cwd=t.folder, capture_output=True, text=True, check=True)
    return done.stdout.split(), done.stderr


def bash_completes_commands_flags_and_words(t):
    (t.folder / "ebb.bash").write_text(page(t, "ebb.bash"))
    for words, want in [
            (["pl"], ["plan"]), (["fr"], ["frontier"]), (["help", "tu"], ["tune"]), (["gen"], []), (["--ver"], ["--version"]),
            (["plan", "--bud"], ["--budget"]), (["plan", "m.ebb", "--thr"], ["--threads", "--thresh-nr-try"]),
            (["verify", "--bud"], []), (["plan", "--method", ""], ["budget", "megengine"]),
            (["plan", "--method", "=", "meg"], ["megengine"]), (["plan", "--method", "="], ["budget", "megengine"]),
            (["plan", "--progress", "=", "j"], ["json"]), (["plan", "--progress", "--bud"], ["--budget"]),
            (["plan", "--prog"], ["--progress", "--progress=none", "--progress=lines", "--progress=json"]), (["plan", "--budget", ""], []),
            (["report", "--format", "me"], ["megengine"])]:
        equal(complete(t, *words)[0], want, str(words))
    for words, paths in [(["plan", ""], True), (["plan", "--config", ""], True), (["plan", "-o", ""], True),
                         (["plan", "--budget", ""], False), (["plan", "--seed", ""], False)]:
        offered, told = complete(t, *words)
        equal((offered, "+o default" not in told), ([], paths), str(words))


def unknown_pages_are_refused(t):
    for name in ("ebb.2", "ebb-plan", "ebb-.1", "ebb-pln.1", "ebb-generate.1", "zsh", "ebb-" + "x" * 100 + ".1"):
        done = t.ebb_run("generate", name, code=2)
        equal((done.stdout, done.stderr.count(b"\n")), (b"", 1), name)


TESTS = [
    every_command_and_flag_is_in_every_page,
    the_build_installs_them_all,
    they_parse,
    bash_completes_commands_flags_and_words,
    unknown_pages_are_refused,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))
