import type { JobDetails } from '../store/index.ts'

const pauseMs = 1_000

export type Progress = {
  report: (fraction: number, details?: JobDetails) => void
  /** Writes what was held back: the last word of a run. */
  flush(): Promise<void>
}

/** Lets a handler report as often as it likes while the record changes at most once a second, and never backwards. */
export function throttleProgress(write: (fraction: number, details?: JobDetails) => Promise<void>): Progress {
  let reached = 0
  let writtenAtMs = Number.NEGATIVE_INFINITY
  let writing: Promise<void> | null = null
  let heldBack: JobDetails | undefined
  return {
    report(fraction, details) {
      const next = Math.min(fraction, 1)
      const tooSoon = writing !== null || performance.now() - writtenAtMs < pauseMs
      // Written so that NaN is refused too.
      if (!(next > reached)) return
      heldBack = details
      if (tooSoon) return
      reached = next
      writtenAtMs = performance.now()
      heldBack = undefined
      writing = write(next, details).finally(() => {
        writing = null
      })
    },
    async flush() {
      await writing
      if (heldBack !== undefined) await write(reached, heldBack)
    },
  }
}
