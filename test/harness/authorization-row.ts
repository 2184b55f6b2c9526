import type { Ids, Maker } from './authorization-stage.ts'

/** Who may call: the least role in the project, or another rule by name. `rulesOf` says what each means for each caller. */
export type Rule =
  | 'open'
  | 'signed-in'
  | 'person'
  | 'viewer'
  | 'editor'
  | 'editor-in-person'
  | 'owner'
  | 'administrator'
  | 'owner-of-key'
  | 'owner-of-token'
  | 'maker-of-tokens'
  | 'maker-of-projects'
  | 'any-key'
  | 'any-token'
  | 'key-of-project'
  | 'viewer-or-key'
  | 'owner-in-person'
  | 'any-client'
  | 'nobody'

export type Row = {
  rule: Rule
  /** What whoever may call is answered; 200 unless given. */
  status?: number
  search?: string
  body?: Record<string, unknown> | ((ids: Ids) => Record<string, unknown>)
  /** Parameters that name something new for each call, because the call uses it up. */
  fresh?: Partial<Record<keyof Ids, Maker>>
  /** Each call signs in anew, because the call ends or replaces the session. */
  session?: 'fresh'
  /** The answer has no end. */
  stream?: true
}

export const row =
  (rule: Rule) =>
  (rest: Omit<Row, 'rule'> = {}): Row => ({ rule, ...rest })
export const open = row('open')
export const viewer = row('viewer')
export const editor = row('editor')
export const owner = row('owner')
