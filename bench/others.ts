/** How much of the processors others on the host took, as the system counts it: time that was wanted here and not given. */
import { readFileSync } from 'node:fs'

const mostShare = 0.05
const mostAgain = 3

/** Watches from now on; answers the share of the time that was wanted here since, and went to others. */
export function watchOthers(): () => number {
  const before = processorTicks()
  return () => {
    const now = processorTicks()
    const [used, taken] = [now.used - before.used, now.taken - before.taken]
    // A single tick of the clock says nothing of a short while.
    return taken <= 1 ? 0 : taken / (used + taken)
  }
}

export function isDisturbed(share: number): boolean {
  return share > mostShare
}

/** Measures again what was disturbed, a few times; where it always is, the last one counts. */
export async function undisturbed<Measured>(measure: () => Promise<Measured>): Promise<Measured> {
  for (let attempt = 1; ; attempt += 1) {
    const share = watchOthers()
    const measured = await measure()
    if (attempt > mostAgain || !isDisturbed(share())) return measured
  }
}

function processorTicks(): { used: number; taken: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [, user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, steal = 0] = line
    .split(/\s+/)
    .map(Number)
  return { used: user + nice + system + interrupts + softInterrupts, taken: steal }
}
