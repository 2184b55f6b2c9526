import { readFileSync, writeSync } from 'node:fs'

/**
 * Loaded into the service with `--import`: how long its event loop stood still. At SIGUSR2 it prints, for the longest
 * turns since the last time: the delay of the loop as a clock shows it; the delay less the time in which this thread
 * was ready and others had the processor, so that a busy machine lengthens it by little; and the processor time.
 */
const everyMs = 5
/** Time of this thread on a processor and in the queue for one, as Linux counts them. */
const schedule = `/proc/self/task/${process.pid}/schedstat`

let [clockMs, delayMs, busyMs] = [0, 0, 0]
let lastMs = performance.now()
let lastQueuedMs = queuedMs()
let lastCpu = process.threadCpuUsage()

function queuedMs(): number {
  return Number(readFileSync(schedule, 'utf8').split(' ')[1]) / 1_000_000
}

setInterval(() => {
  const [nowMs, queued, cpu] = [performance.now(), queuedMs(), process.threadCpuUsage()]
  const lateMs = nowMs - lastMs - everyMs
  clockMs = Math.max(clockMs, lateMs)
  const usedMs = (cpu.user + cpu.system - lastCpu.user - lastCpu.system) / 1_000
  // It may have waited for a processor in turns before, too: no turn is shorter than what it used of one.
  delayMs = Math.max(delayMs, lateMs - (queued - lastQueuedMs), usedMs - everyMs)
  busyMs = Math.max(busyMs, usedMs)
  lastMs = nowMs
  lastQueuedMs = queued
  lastCpu = cpu
}, everyMs).unref()

process.on('SIGUSR2', () => {
  // The turn that is measured may be this one.
  setTimeout(() => {
    writeSync(1, `event loop: ${[clockMs, delayMs, busyMs].map(Math.round).join(' ')}\n`)
    clockMs = delayMs = busyMs = 0
  }, 6 * everyMs)
})
