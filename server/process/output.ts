import { writeSync } from 'node:fs'

/** A sink for lines, in their order. */
export type Lines = { write: (line: string) => void }

const patienceMs = 1_000
const pauseMs = 10
const none = Buffer.alloc(0)

/**
 * Writes each line before anything else happens. A closed terminal, a full disk or a stuck reader costs lines, never the
 * service: a slow reader is waited for one second, once, and a line that says how many were lost stands in their place.
 */
export function openLines(descriptor: number): Lines {
  let lost = 0
  // The rest of a line that was begun: it goes out first, or the next one would be no line of its own.
  let rest: Buffer = none
  const flush = (limitMs: number): boolean => {
    const begun = performance.now()
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(descriptor, rest))
      } catch (error) {
        const isBusy = (error as NodeJS.ErrnoException).code === 'EAGAIN'
        if (!isBusy || performance.now() - begun > limitMs) return false
        pause()
      }
    }
    return true
  }
  return {
    write: (line) => {
      if (!flush(0)) {
        lost += 1
        return
      }
      const whole = Buffer.from(lost === 0 ? line : `${lossOf(lost)}${line}`)
      rest = whole
      if (flush(lost === 0 ? patienceMs : 0) || rest.length < whole.length) lost = 0
      else {
        rest = none
        lost += 1
      }
    },
  }
}

function lossOf(lines: number): string {
  return `${JSON.stringify({ level: 40, time: new Date().toISOString(), lines, kind: 'log-lines-lost' })}\n`
}

/** Blocks this thread: a line belongs where it was written. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
}

/** Standard output of this process. */
export const output = openLines(1)

/** For the person at the terminal; the log is JSON on the same stream. */
export function say(line: string): void {
  output.write(`${line}\n`)
}
