#!/usr/bin/env python3
"""The page's colours, counted: contrast by WCAG 2.1's relative luminance, and how far apart they are, in the OKLab space
(Ottosson 2020), for eyes of all three kinds of colour blindness (Machado, Oliveira and Fernandes 2009, severity 1).

    test_colours.py EBB
"""
import itertools
import math
import re
import sys

from recount import CATEGORIES
from report_page import tight_plan, view
from tester import equal, holds, main

EYES = {"all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900))}
STRIP = ["forward", "backward", "update", "recomputed"]
MODES = ["update", "kept", "gradients", "params"]


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(a, b):
    low, high = sorted(sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(c))) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb):
    cones = [sum(w * p for w, p in zip(row, rgb)) ** (1 / 3) for row in
             ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005))]
    return [sum(w * p for w, p in zip(row, cones)) for row in
            ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099), (0.0259040371, 0.7827717662, -0.8086757660))]


def seen(colour, eye):
    return oklab([min(1, max(0, sum(w * p for w, p in zip(row, linear(colour))))) for row in EYES[eye]])


def apart(a, b):
    """In hundredths of OKLab's lightness from black to white, for the eye to which they are most alike."""
    return min((100 * math.dist(seen(a, eye), seen(b, eye)), eye) for eye in EYES)


def settings(t):
    tight_plan(t)
    style = re.search(r"<style>(.*?)</style>", view(t, "--html"), re.DOTALL).group(1)
    roots = [dict(re.findall(r"--([a-z_]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)]
    equal(len(roots), 2, "light and dark")
    return {"light": roots[0], "dark": {**roots[0], **roots[1]}}


def what_is_counted_is_known_to_be_right(_):
    equal(round(contrast("#000000", "#ffffff"), 2), 21.0)
    equal(round(contrast("#777777", "#ffffff"), 2), 4.48)  # the grey that just fails, of WCAG's own examples
    equal([round(x, 3) + 0.0 for x in oklab((1, 1, 1))], [1.0, 0.0, 0.0])
    equal([round(x, 3) for x in oklab((1, 0, 0))], [0.628, 0.225, 0.126])
    red_green = "#c00000", "#007a00"
    holds(apart(*red_green)[0] < 0.5 * 100 * math.dist(seen(red_green[0], "all cones"), seen(red_green[1], "all cones")), "red and green meet")


def words_stand_out(t):
    for name, colours in settings(t).items():
        for ink, least in (("ink", 7), ("faint", 4.5), ("accent", 4.5)):
            for ground in ("paper", "panel"):
                found = contrast(colours[ink], colours[ground])
                holds(found >= least, f"{name}: {ink} on {ground}: {found:.2f}")


def what_is_drawn_stands_out(t):
    for name, colours in settings(t).items():
        for what in [*CATEGORIES, *STRIP, "line", "accent", "good"]:
            found = contrast(colours[what], colours["panel"])
            holds(found >= 3, f"{name}: {what} on the panel: {found:.2f}")


def colours_differ_for_every_eye(t):
    for name, colours in settings(t).items():
        for group, least in ((CATEGORIES, 10), (STRIP, 10), (MODES, 10)):
            for a, b in itertools.combinations(group, 2):
                far, eye = apart(colours[a], colours[b])
                holds(far >= least, f"{name}: {a} and {b} are {far:.1f} apart for {eye}")
        for a, b in itertools.pairwise(CATEGORIES):
            far, eye = apart(colours[a], colours[b])
            holds(far >= 16, f"{name}: {a} and {b}, which lie on one another, are {far:.1f} apart for {eye}")


TESTS = [what_is_counted_is_known_to_be_right, words_stand_out, what_is_drawn_stands_out, colours_differ_for_every_eye]


if __name__ == "__main__":
    sys.exit(main(TESTS))
