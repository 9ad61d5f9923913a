#!/usr/bin/env python3
"""kill -9 of the command line, the window and the engine at random moments of a sweep; and a store whose disk is full or read-only.

    tests/soak/kills.py [--build build/dev] [--kills 200] [--seed 1] [--only kills|disk]

Prints counts as JSON and ends with 1 when a finished row was lost, a store did not open, or a sweep did not resume. A row counts as
finished once another process has seen it in the store. The disk tests need root (they mount a small tmpfs) and are left out without it.
"""
import argparse, json, os, pathlib, random, signal, sqlite3, subprocess, sys, tempfile, time

ROWS = "1-24"
SWEEP = ["sweep", "--model", "qwen2.5-tiny", "--device", "cpu", "--op", "rms_norm,silu_mul", "--rows", ROWS, "--repeats", "20"]


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1", QT_QPA_PLATFORM="offscreen")


def rows_in(store):
    """Every sweep row of the store by run and key; empty while there is none."""
    try:
        connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10)
        try:
            connection.row_factory = sqlite3.Row
            return {(row["_run"], row["_key"]): dict(row) for row in connection.execute("SELECT * FROM rows_sweep")}
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return {}


def children(pid):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append(int(entry.name))
        except (OSError, IndexError, ValueError):
            pass
    return found


class Soak:
    def __init__(self, build, seed):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.random = random.Random(seed)
        self.counts = {"kills": 0, "kills_of_cli": 0, "kills_of_window": 0, "kills_of_engine": 0, "sweeps_completed": 0, "resumes": 0, "rows_seen_finished": 0,
                       "rows_lost": 0, "rows_changed": 0, "cells_marked_crashed": 0, "stores_that_did_not_open": 0, "sweeps_that_did_not_resume": 0}
        self.problems = []

    def cli(self, *words, **options):
        return subprocess.run([self.bin / "kernelscope-cli", *map(str, words)], capture_output=True, text=True, env=environment(), timeout=600, **options)

    def problem(self, what):
        self.problems.append(what)
        print("PROBLEM:", what, file=sys.stderr)

    def check_store(self, store, before):
        """The store opens, is whole, and holds what was seen; returns what it holds."""
        listed = self.cli("runs", "list", "--store", store, "--json", "-")
        if listed.returncode != 0:
            self.counts["stores_that_did_not_open"] += 1
            self.problem(f"the store does not open: {listed.stderr}")
            return before, None
        connection = sqlite3.connect(store)
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        connection.close()
        if whole != "ok":
            self.problem(f"integrity: {whole}")
        now = rows_in(store)
        for key, row in before.items():
            if key not in now:
                self.counts["rows_lost"] += 1
                self.problem(f"lost {key}")
            elif now[key] != row:
                self.counts["rows_changed"] += 1
                self.problem(f"changed {key}: {row} -> {now[key]}")
        runs = json.loads(listed.stdout)["rows"]
        return now, runs

    def kills(self, wanted):
        with tempfile.TemporaryDirectory(prefix="kernelscope-kills-") as folder:
            store = os.path.join(folder, "runs.sqlite")
            run, seen = None, {}
            cells_expected = None
            while self.counts["kills"] < wanted:
                window = self.random.random() < 0.3
                program = [self.bin / ("soak_window" if window else "kernelscope-cli")]
                words = [store, run or "-"] if window else SWEEP[:1] + (["--resume", run] if run else SWEEP[1:]) + ["--store", store, "--quiet"]
                if run:
                    self.counts["resumes"] += 1
                with subprocess.Popen([*program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(), start_new_session=True, text=True) as process:
                    # Three times of four it measures when it is hit; else it is only starting.
                    measuring = self.random.random() < 0.75
                    rows_before = len(seen)
                    until = time.monotonic() + (90 if measuring else self.random.uniform(0.05, 2))
                    engines_to_kill = self.random.choice([0, 1, 2]) if measuring else 0
                    while time.monotonic() < until and process.poll() is None:
                        seen.update(rows_in(store))
                        if measuring and len(seen) > rows_before:
                            measuring = False
                            until = time.monotonic() + self.random.uniform(0, 3)
                        if engines_to_kill and not measuring and self.random.random() < 0.1:
                            for engine in children(process.pid):
                                try:
                                    os.kill(engine, signal.SIGKILL)
                                except ProcessLookupError:
                                    continue
                                self.counts["kills"] += 1
                                self.counts["kills_of_engine"] += 1
                                engines_to_kill -= 1
                                break
                        time.sleep(0.02)
                    seen.update(rows_in(store))
                    if process.poll() is None:
                        process.kill()
                        self.counts["kills"] += 1
                        self.counts["kills_of_window" if window else "kills_of_cli"] += 1
                        process.wait()
                    elif process.returncode not in (0, 3):  # 3: cells crashed, which is what we did to them
                        said = process.stderr.read()
                        self.counts["sweeps_that_did_not_resume"] += run is not None
                        self.problem(f"exit {process.returncode}: {said}")
                now, runs = self.check_store(store, seen)
                if runs is None:
                    return
                seen = now
                if runs and run is None:
                    run = runs[0]["id"]
                if runs and runs[0]["status"] == "done":
                    rows = [row for row in now.values() if row["_run"] == max(key[0] for key in now)]
                    if cells_expected is None:
                        cells_expected = len(rows)
                    elif len(rows) != cells_expected:
                        self.problem(f"a completed sweep has {len(rows)} cells, another had {cells_expected}")
                    self.counts["sweeps_completed"] += 1
                    run = None
                if len(self.problems) > 20:
                    return
                print(f"\r{self.counts['kills']} kills, {len(seen)} rows finished, {self.counts['rows_lost']} lost", end="", file=sys.stderr)
            # What is left is finished in peace.
            if run:
                last = self.cli("sweep", "--resume", run, "--store", store, "--quiet")
                if last.returncode not in (0, 3):
                    self.counts["sweeps_that_did_not_resume"] += 1
                    self.problem(f"the last resume: exit {last.returncode}: {last.stderr}")
                seen, _ = self.check_store(store, seen)
            self.counts["rows_seen_finished"] = len(seen)
            self.counts["cells_marked_crashed"] = sum(row["status"] == "crashed" for row in seen.values())
            print(file=sys.stderr)

    def disk(self):
        result = {}
        with tempfile.TemporaryDirectory(prefix="kernelscope-disk-") as folder:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True, text=True)
            if mounted.returncode != 0:
                print("the disk tests are left out: a small disk cannot be mounted here:", mounted.stderr.strip(), file=sys.stderr)
                return {"disk": "left out"}
            try:
                store = os.path.join(folder, "runs.sqlite")
                with subprocess.Popen([self.bin / "kernelscope-cli", *SWEEP, "--store", store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as process:
                    seen = {}
                    filled = False
                    while process.poll() is None:
                        seen.update(rows_in(store))
                        if len(seen) >= 6 and not filled:
                            filled = True
                            filler = open(os.path.join(folder, "filler"), "wb")
                            try:
                                while True:
                                    filler.write(b"x" * 4096)
                                    filler.flush()
                            except OSError:
                                pass
                            try:
                                filler.close()
                            except OSError:
                                pass
                        time.sleep(0.01)
                    said = process.stderr.read()
                result["full_exit"] = process.returncode
                result["full_words"] = next((line for line in said.splitlines() if "space" in line), said[-300:])
                if process.returncode != 4 or "no space is left" not in said:
                    self.problem(f"a full disk: exit {process.returncode}: {said}")
                now, runs = self.check_store_by_copy(folder, store, seen)
                result["full_rows_seen"], result["full_rows_kept"] = len(seen), len(now)
                os.unlink(os.path.join(folder, "filler"))
                subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
                run = json.loads(self.cli("runs", "list", "--store", store, "--json", "-").stdout)["rows"][0]["id"]
                again = self.cli("sweep", "--resume", run, "--store", store, "--quiet")
                result["resumed_exit"] = again.returncode
                if again.returncode not in (0, 3):
                    self.problem(f"after there is room again: exit {again.returncode}: {again.stderr}")
                seen, _ = self.check_store(store, now)
                result["rows_after_resume"] = len(seen)

                subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
                refused = self.cli(*SWEEP, "--store", store)
                result["read_only_exit"], result["read_only_words"] = refused.returncode, refused.stderr.strip().splitlines()[:2]
                if refused.returncode != 4 or "runs.sqlite" not in refused.stderr:
                    self.problem(f"a read-only store: exit {refused.returncode}: {refused.stderr}")
                listed = self.cli("runs", "list", "--store", store, "--json", "-")
                result["read_only_list_exit"] = listed.returncode
                subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
                now, _ = self.check_store(store, seen)
                result["read_only_rows_kept"] = len(now)
            finally:
                subprocess.run(["umount", folder], check=False)
        return result

    def check_store_by_copy(self, folder, store, seen):
        """A full disk leaves no room to look: on a copy, as it is."""
        with tempfile.TemporaryDirectory(prefix="kernelscope-copy-") as elsewhere:
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(store + suffix):
                    pathlib.Path(elsewhere, "runs.sqlite" + suffix).write_bytes(pathlib.Path(store + suffix).read_bytes())
            return self.check_store(os.path.join(elsewhere, "runs.sqlite"), seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["kills", "disk"])
    arguments = parser.parse_args()
    soak = Soak(arguments.build, arguments.seed)
    begin = time.monotonic()
    if arguments.only != "disk":
        soak.kills(arguments.kills)
    result = dict(soak.counts)
    if arguments.only != "kills":
        result.update(soak.disk())
    result["seconds"] = round(time.monotonic() - begin)
    result["problems"] = soak.problems
    print(json.dumps(result, indent=2))
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())
