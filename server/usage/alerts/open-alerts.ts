import type { Vault } from '../../access/index.ts'
import { openPeriodic, type Periodic } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import type { Usage } from '../record/record.ts'
import { deliverDue } from './send/deliver.ts'
import { evaluateAlerts } from './evaluate.ts'
import { openSender, type Outgoing, type SenderConfig, type SendOutcome } from './send/send.ts'
import type { Post } from './send/post.ts'
import type { AlertSources } from './measure/sources.ts'

export type Alerts = {
  /** Looks at every alert as of now, unless another replica just has: false then. */
  evaluate(): Promise<boolean>
  /** Delivers what is due; answers how many were tried. */
  deliver(): Promise<number>
  /** Sends one message now and answers its outcome. */
  send(outgoing: Outgoing): Promise<SendOutcome>
  /** Whether alerts can go out by e-mail. */
  sendsMail: boolean
  /** Data of other rooms that alerts measure. */
  sources: AlertSources
  /** Starts to evaluate and deliver periodically. */
  start(): void
  close(): Promise<void>
}

type AlertsOptions = {
  post: Post
  store: Pick<Database, 'db' | 'pool'>
  vault: Vault
  usage: Usage
  sources: AlertSources
  observe: Observe
  now: () => number
  config: SenderConfig
}

const deliverMs = 1_000
/** Rounds of deliveries that may be under way at once; receivers that hang fill some. */
const maxRounds = 8

export function openAlerts(options: AlertsOptions): Alerts {
  const { store, vault, usage, sources, observe, config } = options
  const intervalMs = config.limits.alertIntervalSeconds * 1000
  const sender = openSender(options)
  const closing = new AbortController()
  const now = (): Date => new Date(options.now())
  const rounds = new Set<Promise<unknown>>()
  let evaluating: Periodic | undefined
  let delivering: NodeJS.Timeout | undefined

  const evaluate = async (): Promise<boolean> => {
    // Calls of this process are written first; without them the round is a second behind.
    await usage.flush().catch(() => undefined)
    return evaluateAlerts({ store, sources, observe }, { at: now(), intervalMs })
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
    send: (outgoing) => sender.send(outgoing, { at: now(), signal: closing.signal }),
    sendsMail: sender.sendsMail,
    sources,
    start() {
      evaluating = openPeriodic({ everyMs: intervalMs, work: evaluate, onError: fault })
      // Rounds may overlap: one receiver that hangs must not hold up the others.
      delivering = setInterval(() => {
        if (rounds.size < maxRounds) deliver().catch(fault)
      }, deliverMs)
    },
    async close() {
      clearInterval(delivering)
      closing.abort()
      await evaluating?.close()
      await Promise.all(rounds)
      sender.close()
    },
  }
}
