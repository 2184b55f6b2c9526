/** A right that was seen this recently is believed. */
const rightAgeMs = 1_000

type Parts = {
  write: (text: string) => void
  /** Throws once the reader's credential or role is gone. */
  stillMay: () => Promise<unknown>
  /** The reader may no longer read, or has fallen too far behind. */
  end: () => void
  now: () => number
  maxWaitingBytes: number
}

/**
 * Writes in order what its reader may still read: where the right was not looked at lately, the text waits until it was.
 * A reader who loses a right reads nothing that is written a second later.
 */
export function checkedWrites({ write, stillMay, end, now, maxWaitingBytes }: Parts): (text: string) => void {
  let seenAt = now()
  let waiting: string[] = []
  let waitingBytes = 0
  let checking = false
  const check = async (): Promise<void> => {
    try {
      await stillMay()
    } catch {
      return end()
    }
    seenAt = now()
    checking = false
    const texts = waiting
    waiting = []
    waitingBytes = 0
    for (const text of texts) write(text)
  }
  return (text) => {
    if (!checking && now() - seenAt < rightAgeMs) return write(text)
    waiting.push(text)
    waitingBytes += text.length
    if (waitingBytes > maxWaitingBytes) return end()
    if (checking) return
    checking = true
    void check()
  }
}
