#!/usr/bin/env python3
"""Interrupts in every phase: the processes are gone in time, nothing acknowledged is lost, the command goes on.

Each file has --moments chains. A chain is one search, interrupted in turn in each phase of it, at drawn moments, and
typed again each time until it ends; then its record is exported, interrupted in the proof and in the export. The
phase is the one that Kiln names when it ends; an interrupt that finds another phase is kept too, and tried again.
After each interrupt
  - no process of it is left, within 2 seconds;
  - its status is 3, standard output is one document, with the command that goes on, and standard error says the same;
  - the database is whole, has each record that it had before, and as many of the run as were told of;
  - of exported files each is whole, and nothing else is beside them.
Each interrupt is a line of JSON in --results as soon as it is known, and the same command typed again goes on after
it. The end is a summary: it fails if anything of the above fails, or a phase is not found.

  bench/interrupts/interrupts.py --results bench/results/interrupts.jsonl
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ["ops/torch_softmax", "ops/torch_layernorm", "ops/onnx_Conv_group4", "ops/torch_conv2d_depthwise",
         "ops/jax_matmul_s8s8", "field/integer_division", "field/shifts_i8", "field/two_tasks_with_constant",
         "models/onnx_dqn", "models/torch_lstm_unrolled8"]
TUNING = ["import", "enumeration", "build", "measuring", "training", "race"]
EXPORTING = ["proof", "export"]
LIMIT, PATIENCE, TRIES = 2.0, 20.0, 60  # seconds to end; seconds to wait for the end; interrupts tried for one phase
UNAIDED = 20  # tries after which the phase is paused at its beginning: some take less time than a signal
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def session_of(pid):
    """Of a process that runs; 0 if it does not."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[3])


def processes_of(session):
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and session_of(pid) == session]


def default_signals():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


class Run:
    """A command in a session of its own, with the phases that it says."""

    def __init__(self, command, folder, paused="1"):
        self.phases, self.lines = [], []  # phases: (time, name); lines: the rest of standard error
        self.changed = threading.Condition()
        self.output = open(f"{folder}/output", "w+")
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True, preexec_fn=default_signals,
                                        env={**os.environ, "KILN_PHASES": paused})
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                if line.startswith("kiln: phase: "):
                    self.phases.append((time.monotonic(), line[13:].strip()))
                else:
                    self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.phases.append((time.monotonic(), "ended"))
            self.changed.notify_all()

    def reaches(self, phase, times):
        """Waits until it has been in the phase so many times; false if it ends before."""
        count = lambda: sum(name == phase for _, name in self.phases)
        with self.changed:
            self.changed.wait_for(lambda: count() >= times or self.phases[-1:] and self.phases[-1][1] == "ended")
            return count() >= times

    def acknowledged(self):
        """Trials that it told of: [16/24]."""
        with self.changed:
            told = [line[1:].split("/")[0] for line in self.lines if line.startswith("[")]
        return int(told[-1]) if told else 0

    def longest(self):
        """Seconds of each phase that it has left."""
        longest = {}
        for (begin, name), (end, following) in zip(self.phases, self.phases[1:]):
            if following != "ended":
                longest[name] = max(longest.get(name, 0), end - begin)
        return longest

    def gone(self):
        """Seconds until no process of it is left; what is left then is ended."""
        begin, session = time.monotonic(), self.process.pid
        while time.monotonic() < begin + PATIENCE:
            self.process.poll()
            if self.process.returncode is not None and not processes_of(session):
                return time.monotonic() - begin
            time.sleep(0.005)
        for pid in processes_of(session):
            os.kill(pid, signal.SIGKILL)
        return PATIENCE

    def finish(self):
        """Status, standard output and standard error."""
        status = self.process.wait()
        self.reader.join()
        self.process.stderr.close()
        self.output.seek(0)
        output = self.output.read()
        self.output.close()
        return status, output, "\n".join(self.lines)


class Chain:
    def __init__(self, options, file, moment, folder, typical):
        self.options, self.file, self.folder, self.typical = options, file, folder, typical
        self.moment, self.dice = moment, random.Random(f"{options.seed} {file} {moment}")
        self.database, self.searches = f"{folder}/kiln.db", 0

    def tune(self):
        path = ROOT / "tests/inputs" / f"{self.file}.mlir"
        return [self.options.kiln, "tune", str(path), "--trials", str(self.options.trials), "--seed",
                str(100 * self.moment + self.searches), "--db", self.database, "--json"]

    def export(self, folder):
        return [self.options.kiln, "export", str(self.record), "--db", self.database, "-o", folder, "--json"]

    def query(self, text):
        if not os.path.exists(self.database):
            return []
        database = sqlite3.connect(self.database)
        try:
            return database.execute(text).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # the command was interrupted before it made the table
                return []
            raise
        finally:
            database.close()

    def records(self):
        return set(self.query("SELECT id, run, trial, program_hash FROM record"))

    def whole(self, command):
        """Runs it to its end, as the same command that was interrupted."""
        run = Run(command, self.folder)
        run.reaches("ended", 1)
        status, output, errors = run.finish()
        self.learn(run)
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} ended with status {status}: {errors[-2000:]}")
        return json.loads(output)

    def learn(self, run):
        for name, seconds in run.longest().items():
            self.typical[name] = max(self.typical.get(name, 0), seconds)

    def check_database(self, before, told):
        faults = []
        if self.query("PRAGMA integrity_check") not in ([("ok",)], []):
            faults.append("the database is damaged")
        lost = before - self.records()
        if lost:
            faults.append(f"{len(lost)} records that were there are lost")
        kept = self.query("SELECT count(*) FROM record WHERE run = (SELECT max(id) FROM run)")
        if told > (kept[0][0] if kept else 0):
            faults.append(f"{told} trials were told of, {kept} are kept")
        return faults

    def check_words(self, command, status, output, errors):
        """What is wrong with how it ended, and the phase that it names."""
        faults, during = [], ""
        if status != 3:
            faults.append(f"status {status}")
        try:
            if json.loads(output)["resume"].split() != command_words(command):
                faults.append("the document names another command")
        except (ValueError, KeyError) as error:
            faults.append(f"no document with the command: {error!r}: {output[-300:]}")
        at = errors.find("kiln: interrupted")
        if at < 0 or errors[at:].split("go on with\n  ")[-1].split() != command_words(command):
            faults.append(f"the command that goes on is not told: {errors[-300:]}")
        elif errors[at:].startswith("kiln: interrupted during "):
            during = errors[at + len("kiln: interrupted during "):].split(";")[0]
        return faults, during

    def check_files(self, folder):
        faults = []
        for path in pathlib.Path(folder).glob("*"):
            wanted = pathlib.Path(self.folder) / "wanted" / path.name
            if not wanted.exists() or wanted.read_bytes() != path.read_bytes():
                faults.append(f"{path.name} is not what an export that goes to its end writes")
        return faults

    def interrupt(self, phase, command, attempt, folder):
        """The line of one interrupt; None where the command ended before the moment."""
        times = 1 + self.dice.randrange(1 + (3 >> attempt)) if phase in ("build", "measuring", "race") else 1
        share, number = self.dice.random(), self.dice.choice(SIGNALS)
        delay = share * self.typical.get(phase, 0.02) * 0.5 ** attempt
        before = self.records()
        run = Run(command, self.folder, "1" if attempt < UNAIDED else phase)
        if run.reaches(phase, times):
            time.sleep(delay)
        ended = run.process.poll() is not None
        seconds, told = 0, run.acknowledged()
        if not ended:
            # SIGTERM goes to the command alone, as from `kill`. Others go to its process group, as from a terminal.
            (os.kill if number == signal.SIGTERM else os.killpg)(run.process.pid, number)
            seconds = run.gone()
        status, output, errors = run.finish()
        self.learn(run)
        if status == 0:
            return None
        faults, during = self.check_words(command, status, output, errors)
        if ended:
            faults.append(f"it failed before the interrupt: {errors[-600:]}")
        faults += self.check_database(before, told) + self.check_files(folder)
        if seconds > LIMIT:
            faults.append(f"gone after {seconds:.2f} s")
        return {"file": self.file, "moment": self.moment, "phase": phase, "during": during,
                "signal": number.name, "delay": round(delay, 4), "gone": round(seconds, 3), "told": told,
                "records": len(before), "phase_seconds": round(self.typical.get(phase, 0), 3), "faults": faults}

    def find(self, phase, command, folder, write):
        """Interrupts until the phase is found, or something fails."""
        for attempt in range(TRIES):
            line = self.interrupt(phase, command(), attempt, folder)
            if line is None and phase in TUNING:
                self.searches += 1  # the search ended before the interrupt: begin another one
            if line is not None:
                write(line)
                if line["during"] == phase or line["faults"]:
                    return
        print(f"{self.file}: no interrupt found the phase {phase} in {TRIES} tries", flush=True)

    def go(self, phases, write):
        out = f"{self.folder}/out"
        for phase in [phase for phase in TUNING if phase in phases]:
            self.find(phase, self.tune, out, write)
        before = self.records()
        found = self.whole(self.tune())
        self.record = next(task["record"] for task in found["tasks"] if task["record"])
        faults = [] if before <= self.records() else ["the command that went on lost records"]
        wanted = self.whole(self.export(f"{self.folder}/wanted"))
        for phase in [phase for phase in EXPORTING if phase in phases]:
            self.find(phase, lambda: self.export(out), out, write)
        again = self.whole(self.export(out))
        faults += self.check_files(out)
        if [os.path.basename(f) for f in wanted["files"]] != [os.path.basename(f) for f in again["files"]]:
            faults.append("the export that went on wrote other files")
        write({"file": self.file, "moment": self.moment, "phase": "end", "during": "end", "faults": faults})


def command_words(command):
    return " ".join(command).split()


def summary(lines, wanted):
    done = {(line["file"], line["moment"], line["phase"]) for line in lines if line["during"] == line["phase"]}
    faults = [f"{line['file']} {line['phase']}: {fault}" for line in lines for fault in line["faults"]]
    interrupts = [line for line in lines if "gone" in line]
    for phase in sorted({line["during"] for line in interrupts}):
        gone = sorted(line["gone"] for line in interrupts if line["during"] == phase)
        print(f"{phase or '(between phases)':18} {len(gone):4} interrupts, gone after {gone[len(gone) // 2]:.2f} s, "
              f"at most {gone[-1]:.2f} s")
    missing = [" ".join(map(str, want)) for want in wanted if want not in done]
    print(f"{len(interrupts)} interrupts, {len(faults)} faults, {len(missing)} without result")
    print("\n".join(faults + missing), end="\n" if faults or missing else "")
    return not faults and not missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES, help="names in tests/inputs")
    parser.add_argument("--results", help="a file of JSON lines, to which interrupts are added")
    parser.add_argument("--moments", type=int, default=8, help="of each phase of each file")
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1, help="of moments and signals")
    parser.add_argument("--kiln", default=str(ROOT / "build/release/kiln"))
    options = parser.parse_args()
    results = pathlib.Path(options.results or os.devnull)
    results.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in results.read_text().splitlines() if line] if results.exists() else []
    wanted = []
    with results.open("a") as stream:
        def write(line):
            lines.append(line)
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            if options.results:
                os.fsync(stream.fileno())
            print(" ".join(f"{key}={value}" for key, value in line.items() if value), flush=True)

        for file in options.files:
            typical = {}
            for line in lines:
                if line["file"] == file and "phase_seconds" in line:
                    typical[line["phase"]] = max(typical.get(line["phase"], 0), line["phase_seconds"])
            for moment in range(options.moments):
                own = [(file, moment, phase) for phase in [*TUNING, *EXPORTING, "end"]]
                wanted += own
                done = {(line["file"], line["moment"], line["phase"]) for line in lines
                        if line["during"] == line["phase"] or line["faults"]}
                left = [phase for _, _, phase in own if (file, moment, phase) not in done]
                if left:
                    with tempfile.TemporaryDirectory() as folder:
                        Chain(options, file, moment, folder, typical).go(left, write)
    return 0 if summary(lines, wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
