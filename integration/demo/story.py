"""What the demo prints, and the checks that make it a test.

Every figure that is shown goes through `check`: it is printed only when it is the expected one, else the demo ends.
"""

import os
import sys
import time

COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


class Failed(Exception):
    """A figure was not the expected one."""


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


class Story:
    """Numbered steps, indented lines, and a count of the checks that held."""

    def __init__(self):
        self.checks = 0
        self.steps = 0
        self.began = time.monotonic()

    def step(self, title):
        self.steps += 1
        seconds = time.monotonic() - self.began
        print(f"\n{paint('1', f'{self.steps}. {title}')}  {paint('2', f'[{seconds:.1f} s]')}", flush=True)

    def tell(self, text):
        print(f"   {text}", flush=True)

    def quote(self, command, output):
        """A command as a user would type it, and what it answered."""
        print(f"   {paint('36', '$ ' + command)}")
        for line in output.rstrip().splitlines():
            print(f"   {paint('2', '|')} {line}")
        sys.stdout.flush()

    def check(self, what, found, expected):
        if found != expected:
            raise Failed(f"{what}: expected {show(expected)}, found {show(found)}")
        self.checks += 1
        print(f"   {paint('32', 'ok')} {what}: {show(found)}", flush=True)

    def holds(self, what, condition, detail=""):
        if not condition:
            raise Failed(f"{what} does not hold{': ' if detail else ''}{detail}")
        self.checks += 1
        print(f"   {paint('32', 'ok')} {what}", flush=True)


def show(value):
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str) and len(value) == 64:
        return value[:12]
    if isinstance(value, (list, tuple)):
        return ", ".join(show(v) for v in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{k} {show(v)}" for k, v in value.items())
    return str(value)
