const pauseMs = 1_000

/** Lets a handler report as often as it likes while the record changes at most once a second, and never backwards. */
export function throttleProgress(write: (fraction: number) => Promise<void>): (fraction: number) => void {
  let reached = 0
  let writtenAtMs = Number.NEGATIVE_INFINITY
  let writing = false
  return (fraction) => {
    const next = Math.min(fraction, 1)
    const tooSoon = writing || performance.now() - writtenAtMs < pauseMs
    // Written so that NaN is refused too.
    if (!(next > reached) || tooSoon) return
    reached = next
    writtenAtMs = performance.now()
    writing = true
    void write(next).finally(() => {
      writing = false
    })
  }
}
