"""The command that pip installs with the package: the same program as a build's."""

import json
import pathlib
import subprocess
import sys
import unittest

import ebb

COMMAND = pathlib.Path(sys.executable).with_name("ebb")
PROGRAM = pathlib.Path(ebb.__file__).parent / "bin" / "ebb"


@unittest.skipUnless(PROGRAM.exists(), "the package is not installed by pip: it has no program")
class Command(unittest.TestCase):
    def run_it(self, *words, **more):
        return subprocess.run([COMMAND, *words], capture_output=True, text=True, **more)

    def test_it_is_of_the_package(self):
        told = self.run_it("--version")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        self.assertIn(ebb.__version__, told.stdout)

    def test_it_plans_and_answers_with_its_codes(self):
        models = pathlib.Path(__file__).parent.parent / "examples" / "models"
        told = self.run_it("plan", models / "resnet18.ebb", "--dim", "N=1", "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertGreater(json.loads(told.stdout)["total_bytes"], 2 * 4 * 11_689_512)  # parameters and gradients
        told = self.run_it("plan", models / "no.ebb")
        self.assertEqual((told.returncode, len(told.stderr.splitlines())), (7, 1), told.stderr)


if __name__ == "__main__":
    unittest.main()
