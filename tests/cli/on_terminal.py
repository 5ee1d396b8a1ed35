"""Usage: on_terminal.py COMMAND [ARGUMENT...]

Run a command on a terminal of its own, print what it writes there (both streams), and exit as it did.

A terminal that every process has closed may lose what was last written to it. So this program holds it
open, writes a mark of its own once the command has ended, and reads up to the mark.

$ANSWER is typed before the command starts, as a line.
"""

import os
import subprocess
import sys
import threading

MARK = b"<the command has ended>"


def main():
    terminal, of_command = os.openpty()
    if "ANSWER" in os.environ:
        os.write(terminal, os.environ["ANSWER"].encode() + b"\n")
    # The terminal controls the command's session, as it would a shell's.
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *sys.argv[1:]], stdin=of_command, stdout=of_command, stderr=of_command
    )

    def mark_end():
        process.wait()
        os.write(of_command, MARK)

    threading.Thread(target=mark_end).start()
    shown = b""
    while not shown.endswith(MARK):
        shown += os.read(terminal, 65536)
    sys.stdout.buffer.write(shown[: -len(MARK)].replace(b"\r\n", b"\n"))
    sys.exit(process.returncode)


main()
