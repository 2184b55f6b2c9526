/** What callers saw, and whether they may have. */

export type Operation = 'direct' | 'ticks' | 'current' | 'question' | 'mcp' | 'metered' | 'execute' | 'release' | 'keys'

export type Outage = { part: string; fromMs: number; backMs: number | null }

/** A call that did not succeed. `network`: the connection broke; else the status that came. */
type Fault = {
  operation: Operation
  startedMs: number
  endedMs: number
  outcome: number | 'network'
  detail: string
  /** The replica that had the call, where it was killed. */
  killed?: string | undefined
}

/** After a part is back nothing may fail for its sake any more. */
const graceMs = 5_000
/** How long replicas may take to hear of a change. */
const hearMs = 1_000

const database = /^PostgreSQL/

/** Which calls may fail while a part is away, and how. What is not here may not. */
const mayFail: Array<{ part: RegExp; operations: Operation[]; outcomes: Array<number | 'network'> }> = [
  // Data that no replica but the writer has yet cannot be read, and nothing be written.
  { part: /^S3/, operations: ['execute', 'ticks'], outcomes: [503] },
  { part: database, operations: ['execute', 'release', 'keys'], outcomes: [503] },
  // A key that was made in its last moment is not known everywhere before it is back.
  { part: database, operations: ['keys'], outcomes: [401] },
]

export function openLedger(now: () => number) {
  const outages: Outage[] = []
  const counts = new Map<Operation, { ok: number; failed: number }>()
  const violations: string[] = []
  const faults: Fault[] = []

  const isExcused = ({ operation, startedMs, endedMs, outcome, killed }: Fault): boolean =>
    outages.some(({ part, fromMs, backMs }) => {
      if (endedMs < fromMs || startedMs > (backMs ?? Number.POSITIVE_INFINITY) + graceMs) return false
      // A call that a replica had when it was killed breaks with it; any other goes to the next replica.
      if (part.startsWith('api')) return outcome === 'network' && killed === part
      return mayFail.some(
        (rule) => rule.part.test(part) && rule.operations.includes(operation) && rule.outcomes.includes(outcome),
      )
    })

  const countOf = (operation: Operation) => {
    const known = counts.get(operation) ?? { ok: 0, failed: 0 }
    counts.set(operation, known)
    return known
  }

  return {
    outages,
    counts,
    faults,
    ok: (operation: Operation) => void (countOf(operation).ok += 1),
    failed(fault: Fault): void {
      countOf(fault.operation).failed += 1
      faults.push(fault)
    },
    /** Something that may never be, whatever is away. */
    wrong(operation: Operation, what: string): void {
      violations.push(`${operation}: ${what}`)
    },
    /** Judged at the end, when every outage is known. */
    violations: (): string[] => [
      ...violations,
      ...faults
        .filter((fault) => !isExcused(fault))
        .map(({ operation, outcome, startedMs, detail }) => {
          const away = outages.findLast(({ fromMs }) => fromMs <= startedMs)
          const since = away === undefined ? '' : ` (${startedMs - away.fromMs} ms after ${away.part} was killed)`
          return `${operation} failed with ${outcome}${since}: ${detail}`
        }),
    ],
    /**
     * What was acknowledged before this moment every replica has heard of. Word of a change goes by the database: what
     * it said in its last moment is heard when it is back.
     */
    heardMs(): number {
      const away = outages.find(
        ({ part, backMs }) => database.test(part) && now() <= (backMs ?? Number.POSITIVE_INFINITY) + graceMs,
      )
      return Math.min(now(), away?.fromMs ?? now()) - hearMs
    },
    begin(part: string): () => void {
      const outage: Outage = { part, fromMs: now(), backMs: null }
      outages.push(outage)
      return () => void (outage.backMs = now())
    },
  }
}

export type Ledger = ReturnType<typeof openLedger>

/** Numbers that writers count up: what was asked for, and since when each was acknowledged. */
export function openCounter(now: () => number, heardMs: () => number) {
  let asked = 0
  const acknowledged: Array<{ value: number; atMs: number }> = []
  return {
    next: () => (asked += 1),
    acknowledge: (value: number) => void acknowledged.push({ value, atMs: now() }),
    /** The least and the most that a call begun now may see. */
    bounds(): { least: number; most: () => number } {
      const untilMs = heardMs()
      const least = acknowledged.findLast(({ atMs }) => atMs <= untilMs)?.value ?? 0
      return { least, most: () => asked }
    },
    last: () => acknowledged.at(-1)?.value ?? 0,
  }
}
