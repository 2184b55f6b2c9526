import { pino, type Level } from 'pino'
import type { Config } from './config.ts'
import { Failure } from './failure.ts'
import type { Observation } from './observe.ts'
import { output, type Lines } from './process/index.ts'

/** How loud each observation is. Requests are counted in /metrics; their lines are for looking closely. */
const levels: Record<Observation['kind'], Level> = {
  'app-started': 'info',
  'app-stopping': 'info',
  'app-stopped': 'info',
  'request-answered': 'debug',
  'request-failed': 'error',
  'database-started': 'info',
  'database-lost': 'error',
  'database-recovered': 'info',
  'executor-started': 'debug',
  'executor-lost': 'error',
  'executor-replaced': 'info',
  'query-answered': 'debug',
  'records-dropped': 'warn',
  'alert-changed': 'info',
  'alert-undelivered': 'warn',
  'encoder-opened': 'info',
  'question-index-built': 'debug',
  'redis-lost': 'warn',
  'redis-recovered': 'info',
  'objects-lost': 'warn',
  'objects-recovered': 'info',
  'object-fetched': 'debug',
  'lookup-written': 'debug',
  'lookup-failed': 'warn',
  migrated: 'info',
  'job-started': 'debug',
  'job-finished': 'info',
  'job-failed': 'warn',
  'job-lost': 'warn',
  fault: 'error',
}

/** The only place that writes log lines: one JSON object per observation. */
export function openLog(level: Config['logLevel'], lines: Lines = output): (event: Observation) => void {
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'kind' }, lines)
  return (event) => {
    const level = levelOf(event)
    // Most calls are told and not written; those cost nothing more.
    if (!log.isLevelEnabled(level)) return
    const { kind, ...facts } = event.kind === 'query-answered' ? withoutWords(event) : event
    log[level]('error' in facts ? { ...facts, error: describeError(facts.error) } : facts, kind)
  }
}

function withoutWords(event: Extract<Observation, { kind: 'query-answered' }>) {
  const { question, ...facts } = event
  if (question === undefined) return facts
  const { confidence, verdict } = question
  return { ...facts, confidence, ...(verdict !== undefined && { verdict }) }
}

/** A service that answers questions without its encoder works, but worse: someone should know. */
function levelOf(event: Observation): Level {
  return event.kind === 'encoder-opened' && event.encoder === 'lexical' ? 'warn' : levels[event.kind]
}

/**
 * The part of an error that may be written down. Messages of database errors can quote a value that someone sent, and their
 * `detail` quotes whole rows, so of those only codes and names are kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error }
  const code = 'code' in error ? error.code : undefined
  if ('severity' in error) {
    const { constraint, table, routine } = error as { constraint?: unknown; table?: unknown; routine?: unknown }
    return { name: 'DatabaseError', code, constraint, table, routine }
  }
  const cause = error.cause === undefined ? undefined : describeError(error.cause)
  if (error instanceof Failure) return { name: 'Failure', code, reason: error.reason, cause }
  return { name: error.name, code, message: error.message.slice(0, 500), stack: error.stack, cause }
}
