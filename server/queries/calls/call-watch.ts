import type { LiveVersion } from '../deployed/deployment-index.ts'

/** A call that came to a run, with the values as its caller gave them and its key fixed them. */
export type AnsweredCall = {
  projectId: string
  /** Null for a draft. */
  environment: string | null
  name: string
  version: LiveVersion
  parameters: Readonly<Record<string, unknown>>
  caller: { key: { id: string } } | null
  requestId?: string | null | undefined
}

/**
 * Hears of calls with the values of their slots, to record them or to run them again. A port that `server/app.ts`
 * fills; apart from observations, which carry no values and go to the log.
 */
export type CallWatch = {
  /** False while nobody wants to hear: then a call costs this one look. */
  readonly isOn: boolean
  /** Never waits and never throws. */
  received(call: AnsweredCall): void
  /** The same of a call that was not answered. */
  receivedFailed(call: AnsweredCall): void
}
