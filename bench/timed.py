"""One process, pinned and timed."""

import os
import signal
import subprocess
import threading
import time

ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    )
}


def run(command, cpus, log, limit, address_space=None):
    """Seconds from just before the start until the end, processor seconds and peak memory.

    The kernel's figure of peak memory begins with what the starter occupies (exec keeps the mark),
    so this program stays small (about 20 MB) and scores in processes of their own.
    """
    pinned = ["taskset", "-c", ",".join(map(str, cpus))] + command
    if address_space:  # what ulimit -v sets
        pinned = ["prlimit", f"--as={address_space}"] + pinned
    start = time.monotonic()
    environment = dict(
        os.environ,
        **ONE_THREAD,
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        BENCH_START=repr(start),
    )
    with open(log, "wb") as out:
        process = subprocess.Popen(
            pinned,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        over = threading.Event()

        def stop():
            over.set()
            os.killpg(process.pid, signal.SIGKILL)  # its own group: nothing else

        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # interrupted: leave nothing running
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    result = {
        "exit": process.returncode,
        "seconds": round(seconds, 4),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 4),
        "peak_mb": round(usage.ru_maxrss * 1024 / 1e6, 1),
        "load": round(os.getloadavg()[0], 2),
    }
    if over.is_set():
        result["over_limit"] = limit
    elif process.returncode:
        with open(log, errors="replace", encoding="utf-8") as out:
            result["error"] = out.read()[-600:]
    return result
