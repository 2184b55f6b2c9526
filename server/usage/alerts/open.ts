import type { Vault } from '../../access/index.ts'
import type { App } from '../../app.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record.ts'
import { deliverDue } from './deliver.ts'
import { evaluateAlerts } from './evaluate.ts'
import { openSender } from './send.ts'

export type Alerts = {
  /** Looks at every alert as of now, unless another replica just has: false then. */
  evaluate(): Promise<boolean>
  /** Delivers what is due; answers how many were tried. */
  deliver(): Promise<number>
  /** Whether alerts can go out by e-mail. */
  sendsMail: boolean
  /** From now on this process does both by itself. */
  start(): void
  close(): Promise<void>
}

type AlertsOptions = Pick<App, 'outbound'> & {
  store: Pick<Database, 'db' | 'pool'>
  vault: Vault
  usage: Usage
  observe: Observe
  now: () => number
  intervalMs: number
  smtpUrl: string | undefined
  mailFrom: string
  timeoutMs: number
}

const deliverMs = 1_000
/** Rounds of deliveries that may be under way at once; receivers that hang fill some. */
const mostRounds = 8

export function openAlerts(options: AlertsOptions): Alerts {
  const { store, vault, usage, observe, intervalMs } = options
  const sender = openSender(options)
  const closing = new AbortController()
  const now = (): Date => new Date(options.now())
  const rounds = new Set<Promise<unknown>>()
  const timers: NodeJS.Timeout[] = []
  let evaluating: Promise<unknown> | undefined

  const evaluate = async (): Promise<boolean> => {
    // What this process has seen counts; without it the round is a second behind.
    await usage.flush().catch(() => undefined)
    return evaluateAlerts({ store, observe }, { at: now(), intervalMs })
  }
  const deliver = (): Promise<number> => {
    const round = deliverDue({ store, vault, sender, observe }, { now, signal: closing.signal })
    const known = round.catch(() => undefined).finally(() => rounds.delete(known))
    rounds.add(known)
    return round
  }
  const fault = (error: unknown): void => observe({ kind: 'fault', where: 'alerts', error })

  return {
    evaluate,
    deliver,
    sendsMail: sender.sendsMail,
    start() {
      timers.push(
        setInterval(() => {
          evaluating ??= evaluate()
            .catch(fault)
            .finally(() => (evaluating = undefined))
        }, intervalMs),
        setInterval(() => {
          if (rounds.size < mostRounds) deliver().catch(fault)
        }, deliverMs),
      )
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      closing.abort()
      await evaluating
      await Promise.all(rounds)
      sender.close()
    },
  }
}
