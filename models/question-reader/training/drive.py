"""Runs the jobs of a file, some at once: `python drive.py <jobs.json> <at once> <folder of kept readers>`; a student waits for its teacher."""
import json
import os
import subprocess
import sys
import time

jobs, at_once, kept = json.load(open(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
here, running = os.path.dirname(os.path.abspath(__file__)), []
is_ready = lambda job: "teacher" not in job or os.path.exists(f"{kept}/{job['teacher']}.done")
while jobs or running:
    for job in [each for each in jobs if is_ready(each)][: max(0, at_once - len(running))]:
        jobs.remove(job)
        running.append((job, subprocess.Popen([sys.executable, f"{here}/train.py", json.dumps(job)])))
    for job, process in running:
        if process.poll() == 0:
            open(f"{kept}/{job['name']}.done", "w").close()
    running = [each for each in running if each[1].poll() is None]
    if jobs and not running and not any(map(is_ready, jobs)):
        sys.exit(f"without a teacher: {[job['name'] for job in jobs]}")
    time.sleep(0.3)
