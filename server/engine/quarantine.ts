import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Failure } from '../failure.ts'
import { tokenize, type Token } from './executor/instance/sql-tokens.ts'
import type { Task } from './tickets.ts'

/** Beyond this many the oldest are forgotten; each stands for a process that died. */
const maxEntries = 10_000

/** So many statements that differ in names and values only are one way to end a process. */
const alikeToRefuse = 3

/**
 * Statements that ended the process that ran them: refused for a while, each by its project, words and slots, so that no
 * executor is lost to it twice. What ends a process before it has slots, or with two different sets, is refused with any.
 * Comments, spaces, letters' case, quotes of names and parentheses that only group make no other statement; after three that differ in names and values, so do these.
 * A project in which that happened is on probation: what it has not asked before runs apart from others' calls.
 */
// Over 70 lines: its methods share what is held.
export function createQuarantine({ forMs, now }: { forMs: number; now: () => number }) {
  const until = new Map<string, number>()
  const probation = new Map<string, number>()
  /** Which statement was the first, second and so on of a shape. */
  const alike = new Map<string, string>()
  const proven = new Set<string>()
  const marks = new LRUCache<string, Marks>({ max: 1_000 })

  /** A statement by itself, with its slots, and by its shape. */
  function keysOf({ scope, call }: Task): [string, string, string] {
    const sql = 'sql' in call ? call.sql : JSON.stringify(call)
    const name = digest(`${scope}\n${sql}`)
    const { statement, shape } = marks.get(name) ?? marksOf(scope, sql)
    marks.set(name, { statement, shape })
    // Inspection binds no slots: what ends a process there does so with any.
    if (call.verb !== 'read' && call.verb !== 'explain') return [statement, statement, shape]
    return [statement, digest(statement + JSON.stringify(call.slots)), shape]
  }

  function noteShape(statement: string, shape: string, endsMs: number): void {
    for (let at = 1; at < alikeToRefuse; at += 1) {
      const key = `${at} ${shape}`
      const earlier = alike.get(key)
      if (earlier === statement) return
      if (earlier !== undefined && isHeld(until, key)) continue
      alike.set(key, statement)
      until.set(key, endsMs)
      return
    }
    until.set(shape, endsMs)
  }

  function note(task: Task): void {
    const [statement, call, shape] = keysOf(task)
    const endsMs = now() + forMs
    until.set(until.has(`once ${statement}`) ? statement : call, endsMs)
    until.set(`once ${statement}`, endsMs)
    noteShape(statement, shape, endsMs)
    probation.set(task.scope, endsMs)
    for (const key of until.keys()) if (until.size > maxEntries) until.delete(key)
    for (const key of alike.keys()) if (alike.size > maxEntries) alike.delete(key)
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

type Marks = { statement: string; shape: string }

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Words that may stand or not, and the tree is the same. */
const needless = new Set(['as', 'asc', 'inner', 'outer'])
/** Words behind which parentheses only group; behind others they are those of a call, a list or a subquery. */
const beforeGroups = new Set(
  'select where and or not on when then else having by limit offset between like ilike distinct all'.split(' '),
)

/** Tokens without what makes no other tree: quotes of names, parentheses that only group, needless words, the end. */
function telling(tokens: Token[]): Token[] {
  const isKept: boolean[] = []
  return tokens
    .map((token): Token => {
      if (token.kind === 'quoted') return { ...token, kind: 'word', text: token.text.slice(1, -1).toLowerCase() }
      return token.kind === 'word' ? { ...token, text: token.text.toLowerCase() } : token
    })
    .filter(({ kind, text }, at, all) => {
      if (kind === 'word') return !needless.has(text)
      if (kind !== 'symbol' || text === ';') return kind !== 'symbol'
      const before = all[at - 1]
      if (text === '(') isKept.push(before?.kind === 'word' && !beforeGroups.has(before.text))
      if (text === '(') return isKept.at(-1) === true
      return text !== ')' || isKept.pop() === true
    })
}

/** The words of a statement, as its tree has them; its shape is without names and values. */
function marksOf(scope: string, sql: string): Marks {
  const tokens = telling(tokenize(sql))
  const words = tokens.map(({ kind, text }) => (kind === 'word' || kind === 'slot' ? text.toLowerCase() : text))
  const kinds = tokens.map(({ kind, text }, at) => {
    if (kind === 'symbol') return text
    return kind === 'word' && tokens[at + 1]?.text === '(' ? text.toLowerCase() : kind
  })
  return { statement: digest(`${scope}\n${words.join('\n')}`), shape: digest(`${scope}\n\n${kinds.join('\n')}`) }
}
