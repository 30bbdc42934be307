"""The parts that scripts/gpu_check.py consists of: each has a share of the time, and one that fails, or does not end, does not end the others."""

import os
import select
import signal
import subprocess
import time

GRACE = 3.0  # seconds that a command has to end by itself


class Failed(Exception):
    """A part went wrong; the message is for the reader."""


class TimeUp(Exception):
    """A part's time is up."""


class Part:
    """One part. What it should have done and has not is named in `missing`."""

    def __init__(self, name, deadline):
        self.name, self.deadline, self.missing = name, deadline, []

    def left(self):
        return self.deadline - time.monotonic()


class Parts:
    """Runs one part after the other. A part may take its own budget, and what those before have left of theirs."""

    def __init__(self, seconds, save):
        self.start, self.planned = time.monotonic(), time.monotonic()
        self.end, self.save, self.entries = self.start + seconds, save, []

    def run(self, name, budget, work, needs=None):
        """Calls work(part). Not without those of `needs` having been done, nor when the time is up."""
        begin = time.monotonic()
        self.planned += budget
        part = Part(name, min(self.planned, self.end))
        entry = {"part": name, "budget_s": budget, "seconds": 0.0, "status": "done", "missing": part.missing}
        self.entries.append(entry)
        without = [n for n in needs or [] if self.status(n) != "done"]
        print(f"\n== {name} (at most {max(0.0, part.left()):.0f} s)", flush=True)
        try:
            if without or part.left() <= 0:
                entry["status"], entry["why"] = "skipped", f"needs {', '.join(without)}" if without else "the time is up"
            else:
                work(part)
                entry["status"] = "cut short" if part.missing else "done"
        except TimeUp:
            entry["status"], entry["why"] = "cut short", "the time is up"
        except Exception as e:  # whatever it is, the other parts are worth their time
            entry["status"], entry["why"] = "failed", str(e) if isinstance(e, Failed) else f"{type(e).__name__}: {e}"
        entry["seconds"] = round(time.monotonic() - begin, 1)
        if entry["status"] != "done":
            print(describe(entry), flush=True)
        self.save()

    def status(self, name):
        return next((e["status"] for e in self.entries if e["part"] == name), "not run")

    def failed(self):
        return [e for e in self.entries if e["status"] == "failed"]


def describe(entry):
    """A part in one line."""
    text = f"{entry['part']}: {entry['status']} after {entry['seconds']:.1f} of {entry['budget_s']:.0f} s"
    if entry["missing"]:
        text += "; without " + ", ".join(entry["missing"])
    return text + (f": {entry['why']}" if "why" in entry else "")


def start(command, log, **options):
    """A process in a group of its own, so that what it starts ends with it."""
    return subprocess.Popen([str(c) for c in command], stderr=log, start_new_session=True, **options)


def stop(process):
    """Ends a process and what it started: politely, then not. A driver may hold one back forever, for which nobody waits."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def lines(command, part, log_path, environment=None):
    """The lines of a command's standard output, as they come. TimeUp when the part's time is up, Failed when the command fails."""
    with open(log_path, "w+b") as log:
        process = start(command, log, stdout=subprocess.PIPE, env=environment)
        try:
            yield from read(process.stdout.fileno(), part)
            try:
                code = process.wait(max(GRACE, part.left()))
            except subprocess.TimeoutExpired:
                raise TimeUp from None
        finally:
            if process.poll() is None:
                stop(process)
            process.stdout.close()
        if code != 0:
            raise Failed(f"{os.path.basename(str(command[0]))} ended with {code}: {tail(log)}")


def read(descriptor, part):
    text = b""
    while True:
        if not select.select([descriptor], [], [], max(0.0, part.left()))[0]:
            raise TimeUp
        data = os.read(descriptor, 1 << 16)
        *whole, text = (text + data).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
        if not data:
            if text:
                yield text.decode(errors="replace")
            return


def tail(log):
    """The last lines of what a command said beside its output."""
    log.seek(max(0, log.seek(0, os.SEEK_END) - 1500))
    return "\n".join(log.read().decode(errors="replace").strip().splitlines()[-6:]) or "it said nothing"
