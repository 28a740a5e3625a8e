#!/usr/bin/env python3
"""Runs what pages show, and compares.

  tests/docs/run.py [--build build/release] [--update] PAGE.md...
  tests/docs/run.py [--update] --example PROGRAM EXPECTED.txt

The blocks of a page run in order, in an empty folder that looks like a clone: `scripts/kiln`, `examples`, `bench`,
`tests` and `build/release` are there. What a fence's first line says decides what happens:

  ```console           each line after "$ " is a command; what follows is all that it prints, to both streams.
                       A line that ends with a backslash goes on in the next. The command must succeed
  ```console measured  the same, but numbers are not compared, nor units of time and blanks
  ```LANG FILE         a file: written to the folder or, if the tree has it, lines of it as they stand there
  ```LANG              only shown

In what is expected "..." stands for anything within a line, and alone on a line for any lines. --update writes what
came out where it differs; masks in that output have to be put back by hand.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?( ?(ns|us|ms|s|h)\b)?")
FENCE = re.compile(r"^```(\w*) ?(.*)$")


def masked(text):
    return "\n".join(re.sub(r"\s+", " ", NUMBER.sub("0", line)).strip() for line in text.splitlines())


def same(expected, actual, measured=False):
    """Whether a program printed what is expected of it."""
    if measured:
        expected, actual = masked(expected), masked(actual)
    lines = []
    for line in expected.splitlines():
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("..."))
        lines.append(r"(?:[^\n]*\n)*?" if line.strip() == "..." else pattern.replace(".*", r"[^\n]*") + r"\n")
    text = "".join(line.rstrip() + "\n" for line in actual.splitlines())
    return re.fullmatch("".join(lines), text) is not None


def difference(expected, actual):
    return "\n".join(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "shown", "printed", lineterm=""))


def commands(lines):
    """The [command, output] of a console block."""
    found = []
    for line in lines:
        if found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], ""])
        elif found:
            found[-1][1] += line + "\n"
        else:
            raise ValueError(f'a console block begins with "{line}", not with "$ "')
    return found


def prepare(folder, build):
    for name in ("examples", "bench", "tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)
    (folder / "scripts").mkdir()
    kiln = folder / "scripts/kiln"
    kiln.write_text(f'#!/usr/bin/env bash\nexec -a "$0" {build}/kiln "$@"\n')
    kiln.chmod(0o755)


def run(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Page:
    """A page's lines, and what was wrong in it."""

    def __init__(self, path, build):
        self.path, self.build = path, build
        self.lines, self.wrong = [], []

    def complain(self, number, text):
        self.wrong.append(f"{self.path}:{number}: {text}")

    def console(self, number, lines, measured, folder):
        """The block as it should be."""
        wanted = []
        for command, expected in commands(lines):
            result = run(command, folder)
            wanted += ("$ " + command).splitlines()
            if result.returncode != 0:
                self.complain(number, f"exit code {result.returncode} of: {command}\n{result.stdout}")
            if same(expected, result.stdout, measured):
                wanted += expected.splitlines()
            else:
                self.complain(number, f"another output of: {command}\n{difference(expected, result.stdout)}")
                wanted += [line.rstrip() for line in result.stdout.splitlines()]
        return wanted

    def file(self, number, name, lines, folder):
        if not (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("\n".join(lines) + "\n")
            return
        shown, there = textwrap.dedent("\n".join(lines)), (ROOT / name).read_text().splitlines()
        for first in range(len(there) - len(lines) + 1):
            if textwrap.dedent("\n".join(there[first:first + len(lines)])) == shown:
                return
        self.complain(number, f"these lines are not in {name}")

    def check(self):
        """The page as it should be."""
        with tempfile.TemporaryDirectory(prefix="kiln-docs-") as name:
            folder = pathlib.Path(name)
            prepare(folder, self.build)
            block = None  # (number, kind, rest, lines)
            for number, line in enumerate(self.path.read_text().splitlines(), 1):
                fence = FENCE.match(line)
                if block is None:
                    self.lines.append(line)
                    block = (number, fence[1], fence[2], []) if fence else None
                elif line != "```":
                    block[3].append(line)
                else:
                    first, kind, rest, lines = block
                    if kind == "console":
                        lines = self.console(first, lines, rest == "measured", folder)
                    elif rest:
                        self.file(first, rest, lines, folder)
                    self.lines += lines + [line]
                    block = None
        return "\n".join(self.lines) + "\n"


def check_example(program, expected, update):
    result = subprocess.run([program], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = expected.read_text() if expected.exists() else ""
    if result.returncode == 0 and same(text, result.stdout):
        return 0
    print(f"{expected}: exit code {result.returncode}\n{difference(text, result.stdout)}")
    if update:
        expected.write_text(result.stdout)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--example", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if options.example:
        return check_example(*options.files, options.update)
    wrong = []
    for path in options.files:
        page = Page(path, options.build.resolve())
        text = page.check()
        wrong += page.wrong
        if options.update:
            path.write_text(text)
    print("\n\n".join(wrong) or f"{len(options.files)} pages show what is printed")
    if wrong and not options.update:
        print("\ntests/docs/run.py --update PAGE... writes what is printed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
