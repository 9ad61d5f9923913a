#!/usr/bin/env python3
"""fuzz.py SECONDS JOBS_PER_TARGET OUTDIR [CORPUS.tgz]

Runs every fuzz target of fuzz.tgz, which lies beside this file (FUZZ_TARGETS="list text": only those), JOBS_PER_TARGET processes each, all at once, for SECONDS, and writes into OUTDIR:
  fuzz.json         for each target executions, seconds of processor time, inputs that broke it, slow inputs
  broke.tgz         those inputs, and the logs of the runs that they ended (absent when nothing broke)
  corpus.tgz        what was found interesting, for the next run's CORPUS.tgz
A process that an input ends is started again, so that one finding does not end the search for others. Stopped by SIGTERM or SIGINT it
writes what it has.
"""
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST_RESTARTS = 20      # of one job: a target that breaks at every input is not worth more
MOST_KEPT = 40          # inputs kept a target
LARGEST_INPUT = 8192
LARGEST_LOG = 1 << 24   # a report that never ends
stopped = False


def stop(*_):
    global stopped
    stopped = True


def fixed_addresses():
    """Sanitizers of this age fail now and then where the kernel randomizes addresses more than they knew; not everywhere may one ask for none."""
    ADDR_NO_RANDOMIZE = 0x0040000
    try:
        ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    except (OSError, AttributeError):
        pass


class Job:
    """One process of one target, again and again until the time is over."""

    def __init__(self, target, number, work):
        self.target, self.number, self.work = target, number, work
        self.executions, self.cpu, self.starts = 0, 0.0, 0
        self.ends = []  # [exit status, log]
        self.process = None

    def start(self, left, environment):
        self.log = self.work / "logs" / f"{self.target}.{self.number}.{self.starts}.log"
        self.starts += 1
        corpus = self.work / "corpus" / self.target
        command = [str(self.work / f"fuzz_{self.target}"), f"-max_total_time={max(1, int(left))}", "-timeout=60", "-report_slow_units=10", "-rss_limit_mb=3072",
                   f"-max_len={LARGEST_INPUT}", "-print_final_stats=1", "-reload=30", f"-artifact_prefix={self.work}/found/{self.target}-", str(corpus)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, preexec_fn=fixed_addresses)

    def reap(self):
        """True when it has ended."""
        if self.process is None:
            return True
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.process.returncode = code = os.waitstatus_to_exitcode(status)
        self.process = None
        self.cpu += usage.ru_utime + usage.ru_stime
        self.executions += executions(self.log)
        if code not in (0, 72):  # 72: interrupted
            self.ends.append((code, self.log))
        return True

    def executions_now(self):
        return self.executions + (executions(self.log) if self.process else 0)


def executions(log):
    text = log.read_text(errors="replace")
    final = re.findall(r"^stat::number_of_executed_units:\s*(\d+)", text, re.M)
    return int(final[-1]) if final else max((int(n) for n in re.findall(r"^#(\d+)", text, re.M)), default=0)


def report(jobs, targets, work, out, began, seconds, per_target):
    result = {"seconds": round(time.monotonic() - began, 1), "seconds_asked": seconds, "jobs_per_target": per_target, "processors": os.cpu_count(), "targets": {}}
    for target in targets:
        own = [job for job in jobs if job.target == target]
        found = sorted(path.name for path in (work / "found").glob(target + "-*"))
        slow = [name for name in found if "-slow-unit-" in name]
        result["targets"][target] = {
            "executions": sum(job.executions_now() for job in own), "cpu_seconds": round(sum(job.cpu for job in own), 1),
            "broke": len(found) - len(slow), "ended_early": [code for job in own for code, _ in job.ends], "slow": len(slow),
            "inputs": [name for name in found if name not in slow], "slow_inputs": slow[:MOST_KEPT], "corpus": len(list((work / "corpus" / target).iterdir()))}
    result["executions"] = sum(each["executions"] for each in result["targets"].values())
    result["broke"] = sum(each["broke"] for each in result["targets"].values())
    part = out / "fuzz.json.part"
    part.write_text(json.dumps(result, indent=1) + "\n")
    part.rename(out / "fuzz.json")
    return result


def keep(jobs, targets, work, out):
    logs = {log for job in jobs for _, log in job.ends}
    files = [path for target in targets for path in sorted((work / "found").glob(target + "-*"))[:MOST_KEPT]]
    if files or logs:
        with tarfile.open(out / "broke.tgz", "w:gz") as archive:
            for path in files:
                archive.add(path, path.name)
            for log in sorted(logs)[:200]:
                lines = log.read_text(errors="replace").splitlines()[-80:]
                (log.parent / "tail").write_text("\n".join(lines) + "\n")
                archive.add(log.parent / "tail", "logs/" + log.name)
    with tarfile.open(out / "corpus.tgz", "w:gz", compresslevel=6) as archive:
        archive.add(work / "corpus", "corpus")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    seconds, per_target, out = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, stop)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=os.environ.get("FUZZ_WORK")) as folder:
        work = Path(folder)
        for name in ("logs", "found"):
            (work / name).mkdir()
        for archive in (HERE / "fuzz.tgz", *map(Path, sys.argv[4:])):
            with tarfile.open(archive) as opened:
                opened.extractall(work)  # ours
        targets = sorted(path.name.removeprefix("fuzz_") for path in work.glob("fuzz_*"))
        if wanted := os.environ.get("FUZZ_TARGETS", "").split():
            targets = [target for target in targets if target in wanted]
        environment = {"LD_LIBRARY_PATH": str(work), "PATH": "/usr/bin:/bin", "TMPDIR": str(work), "UBSAN_OPTIONS": "print_stacktrace=1:symbolize=0",
                       "ASAN_OPTIONS": "allocator_may_return_null=1:symbolize=0"}
        began = time.monotonic()
        jobs = [Job(target, number, work) for number in range(per_target) for target in targets]
        for job in jobs:
            job.start(seconds, environment)
        reported = began
        while any(job.process for job in jobs):
            time.sleep(0.2)
            left = seconds - (time.monotonic() - began)
            for job in jobs:
                if job.process and job.reap() and not stopped and left > 2 and job.starts <= MOST_RESTARTS:
                    job.start(left, environment)
                elif job.process and job.log.stat().st_size > LARGEST_LOG:
                    job.process.kill()
                elif job.process and (stopped or left < -30):
                    job.process.terminate() if left > -60 else job.process.kill()
            if time.monotonic() - reported > 15:
                reported = time.monotonic()
                report(jobs, targets, work, out, began, seconds, per_target)
        result = report(jobs, targets, work, out, began, seconds, per_target)
        keep(jobs, targets, work, out)
    for target, each in result["targets"].items():
        print(f"{target:16} {each['executions']:>12,} executions  {each['cpu_seconds']:>9.0f} s  broke {each['broke']}  slow {each['slow']}  corpus {each['corpus']}")
    print(f"{'all':16} {result['executions']:>12,} executions, {result['broke']} broke")
    return 1 if result["broke"] else 0


sys.exit(main())
