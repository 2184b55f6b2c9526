/** Work of which one run happens at a time. */
export type Serial = {
  /** Ends with a run that begins after this call. All who ask during a run share the next one. */
  run(): Promise<void>
  /** Ends when no run is under way and none is wanted, however the last one ended. */
  settled(): Promise<void>
}

/** So that what an older run found never overwrites what a newer one did. */
export function createSerial(work: () => Promise<void>): Serial {
  let current: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let isRunning = false
  return {
    run() {
      next ??= current
        .catch(() => undefined)
        .then(() => {
          next = undefined
          isRunning = true
          current = work().finally(() => (isRunning = false))
          return current
        })
      return next
    },
    async settled() {
      for (let last = next ?? current; ; last = next ?? current) {
        await last.catch(() => undefined)
        if (next === undefined && !isRunning) return
      }
    },
  }
}

export type Periodic = {
  /** Runs now, or again after the run that is under way. */
  run(): void
  /** Starts no further run, and waits for the one that is under way. */
  close(): Promise<void>
}

/** Runs `work` every so often, one run at a time. A run that fails is told, and the next comes in its time. */
export function openPeriodic({
  everyMs,
  work,
  onError,
}: {
  everyMs: number
  work: () => Promise<unknown>
  onError: (error: unknown) => void
}): Periodic {
  let isClosed = false
  const serial = createSerial(async () => {
    if (isClosed) return
    await work().catch(onError)
  })
  const run = (): void => void serial.run()
  const timer = setInterval(run, everyMs).unref()
  return {
    run,
    async close() {
      isClosed = true
      clearInterval(timer)
      await serial.settled()
    },
  }
}
