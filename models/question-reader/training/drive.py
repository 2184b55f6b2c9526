"""Runs jobs of a file, some at once: `python drive.py <jobs.json> <at once> <seconds>`; none begins after so many seconds."""
import json
import os
import subprocess
import sys
import time

jobs, at_once, limit = json.load(open(sys.argv[1])), int(sys.argv[2]), float(sys.argv[3])
here, began, running = os.path.dirname(os.path.abspath(__file__)), time.time(), []
while jobs or running:
    while jobs and len(running) < at_once and time.time() - began < limit:
        running.append(subprocess.Popen([sys.executable, f"{here}/train.py", json.dumps(jobs.pop(0))]))
    running = [each for each in running if each.poll() is None]
    if not running and time.time() - began >= limit:
        print("not begun:", [job["name"] for job in jobs])
        break
    time.sleep(0.3)
