import { createHash } from 'node:crypto'
import { Failure } from '../failure.ts'
import type { Task } from './tickets.ts'

/** Beyond this many the oldest are forgotten; each stands for a process that died. */
const maxEntries = 10_000

/**
 * Statements that ended the process that ran them: refused for a while, each by its project, text and slots, so that no
 * executor is lost to it twice. What ends a process before it has slots, or with two different sets, is refused with any.
 * A project in which that happened is on probation: what it has not asked before runs apart from others' calls.
 */
export function createQuarantine({ forMs, now }: { forMs: number; now: () => number }) {
  const until = new Map<string, number>()
  const probation = new Map<string, number>()
  const proven = new Set<string>()

  function note(task: Task): void {
    const [statement, call] = keysOf(task)
    const endsMs = now() + forMs
    until.set(until.has(`once ${statement}`) ? statement : call, endsMs)
    until.set(`once ${statement}`, endsMs)
    probation.set(task.scope, endsMs)
    for (const key of until.keys()) if (until.size > maxEntries) until.delete(key)
  }

  const isHeld = (held: Map<string, number>, key: string): boolean => {
    const endsMs = held.get(key)
    if (endsMs === undefined) return false
    // Longer than it could be at most: the clock was set back.
    if (endsMs > now() && endsMs <= now() + forMs) return true
    held.delete(key)
    return false
  }

  return {
    note,

    refuses(task: Task): boolean {
      return until.size > 0 && keysOf(task).some((key) => isHeld(until, key))
    },

    /** True of a call that nobody has seen succeed, in a project where a call ended a process. */
    sendsApart(task: Task): boolean {
      if (!isHeld(probation, task.scope)) return false
      return !proven.has(keysOf(task)[0])
    },

    /** A statement of a project on probation that was answered: it needs no place apart again. */
    clear(task: Task): void {
      if (!isHeld(probation, task.scope)) return
      if (proven.size >= maxEntries) proven.clear()
      proven.add(keysOf(task)[0])
    },

    failure({ call }: Task): Failure {
      const seconds = Math.ceil(forMs / 1_000)
      const message = `This SQL ended the process that ran it, so it is refused for ${seconds} seconds. Change it: most often a function is given a value that is far too long or too deeply nested.`
      const reason = 'ended_executor'
      return call.verb === 'inspect'
        ? new Failure('invalid_request', { reason, message })
        : new Failure('invalid_query', { reason, message })
    },
  }
}

/** A statement by itself, and with its slots. */
function keysOf({ scope, call }: Task): [string, string] {
  const sql = 'sql' in call ? call.sql : JSON.stringify(call)
  const statement = createHash('sha256').update(`${scope}\n${sql}`).digest('base64')
  // Inspection binds no slots: what ends a process there does so with any.
  if (call.verb !== 'read' && call.verb !== 'explain') return [statement, statement]
  return [statement, createHash('sha256').update(statement).update(JSON.stringify(call.slots)).digest('base64')]
}
