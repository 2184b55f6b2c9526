import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { definitionPlan, planEntry } from '../../../api/definition.ts'
import type { modelComparison } from '../../../api/models.ts'
import type { release } from '../../../api/releases.ts'
import { isRecord } from '../../project/index.ts'
import { createTwoFilesPatch } from 'diff'
import type { Style } from '../../terminal/style.ts'
import { visible } from '../../terminal/table.ts'

export type Plan = z.output<typeof definitionPlan>
export type PlanEntry = z.output<typeof planEntry>
export type Release = z.output<typeof release>

const marks = { create: '+', update: '~', delete: '-', unchanged: ' ' } as const
const shownCallers = 3
const shownMoves = 10

/** The plan as people read it: the thing, its effect on callers, and which fields differ. */
export function planText({ plan, routing }: Plan, style: Style): string {
  const changed = plan.filter(({ action }) => action !== 'unchanged')
  const unchanged = plan.length - changed.length
  const kindWidth = Math.max(0, ...changed.map(({ kind }) => kind.length))
  const nameWidth = Math.max(0, ...changed.map(({ name }) => Math.min(40, visible(name))))
  const lines = changed.flatMap((entry) => entryLines(entry, { kindWidth, nameWidth, style }))
  for (const { kind, name } of plan.filter(isLeftOut)) {
    const why = 'is not in the files and stays; --prune deletes it with its data'
    lines.push(`  ${style.warn('!')} ${style.dim(kind.padEnd(kindWidth))}  ${style.bold(name)}  ${why}`)
  }
  if (unchanged > 0) lines.push(style.dim(`    ${unchanged} unchanged`))
  if (routing !== null) lines.push('', ...routingLines(routing, style))
  lines.push('', summary(changed, style))
  return lines.join('\n')
}

/** A table that is kept because deleting it deletes data. */
function isLeftOut({ kind, action, notes }: PlanEntry): boolean {
  return kind === 'connection' && action === 'unchanged' && notes.length > 0
}

function entryLines(
  entry: PlanEntry,
  { kindWidth, nameWidth, style }: { kindWidth: number; nameWidth: number; style: Style },
): string[] {
  const { kind, name, action, release: meant } = entry
  const paint = { create: style.good, update: style.warn, delete: style.bad, unchanged: style.dim }[action]
  const padding = ' '.repeat(Math.max(0, nameWidth - visible(name)))
  const head = `  ${paint(marks[action])} ${style.dim(kind.padEnd(kindWidth))}  ${style.bold(name)}${padding}`
  const lines = [`${head}  ${meant === null ? '' : compatibilityText(meant.compatibility, style)}`.trimEnd()]
  const add = (text: string): void => void lines.push(`      ${text}`)
  if (action === 'update') for (const change of entry.changes) for (const line of changeLines(change, style)) add(line)
  for (const change of meant?.changes ?? []) add(`${levelText(change.level, style)} ${change.message}`)
  if (meant !== null && meant.callers.length > 0) add(callersText(meant.callers, style))
  if (entry.refused !== null) add(style.bad(`cannot be applied: ${entry.refused.message}`))
  for (const failed of entry.failed_checks) add(style.bad(`does not pass ${failed.type}: ${failed.message}`))
  for (const note of entry.notes) add(style.warn(note))
  return lines
}

const shortText = 60
const maxPaths = 20

function changeLines({ field, before, after }: PlanEntry['changes'][number], style: Style): string[] {
  const leaves = leavesOf(field, before, after)
  if (leaves.length === 0) return [`${field}: in another order`]
  const lines = leaves.slice(0, maxPaths).flatMap((leaf) => leafLines(leaf, style))
  return leaves.length > maxPaths ? [...lines, `and ${leaves.length - maxPaths} more`] : lines
}

type Leaf = { path: string; before: unknown; after: unknown }

/** The values that differ, each by its path: two long texts that begin alike would be cut to the same. */
function leavesOf(path: string, before: unknown, after: unknown): Leaf[] {
  if (isDeepStrictEqual(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, at) => leavesOf(`${path}[${at}]`, before[at], after[at])).flat()
  }
  if (!isRecord(before) || !isRecord(after)) return [{ path, before, after }]
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return keys.flatMap((key) => leavesOf(`${path}.${key}`, before[key], after[key]))
}

function leafLines({ path, before, after }: Leaf, style: Style): string[] {
  if (typeof before === 'string' && typeof after === 'string' && (before + after).includes('\n')) {
    return [`${path}:`, ...diffLines(before, after, style).map((line) => `  ${line}`)]
  }
  const [was, is] = [valueText(before), valueText(after)]
  const from = Math.max(0, commonStart(was, is) - shortText / 3)
  return [`${path}: ${style.bad(partFrom(was, from))} → ${style.good(partFrom(is, from))}`]
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function commonStart(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at += 1) if (left[at] !== right[at]) return at
  return length
}

/** A long text from a little before its first difference. */
function partFrom(text: string, from: number): string {
  if (text.length <= shortText) return text
  const start = from > 0 ? '…' : ''
  const part = text.slice(from, from + shortText)
  return `${start}${part}${from + shortText < text.length ? '…' : ''}`
}

/** Lines that may differ before a text counts as replaced: the work of comparing grows with their square. */
const maxEdits = 2_000

/** The lines that differ, with two of what is around them. */
export function diffLines(before: string, after: string, style: Style): string[] {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 2, maxEditLength: maxEdits })
  if (patch === undefined) {
    const [removed, added] = [before, after].map((text) => text.trimEnd().split('\n').length)
    return [style.warn(`replaced: ${removed} lines by ${added}, too many to compare`)]
  }
  const lines = patch
    .split('\n')
    .slice(4)
    .filter((line) => line !== '' && !line.startsWith('\\'))
  return lines.map((line) => {
    if (line.startsWith('@@')) return style.name(line)
    if (line.startsWith('+')) return style.good(line)
    return line.startsWith('-') ? style.bad(line) : style.dim(line)
  })
}

export function compatibilityText(level: PlanLevel, style: Style): string {
  const texts = {
    first: style.good('first version'),
    compatible: style.good('compatible'),
    additive: style.good('additive'),
    breaking: style.bad('breaking'),
  }
  return texts[level]
}
type PlanLevel = 'first' | 'compatible' | 'additive' | 'breaking'

function levelText(level: 'compatible' | 'additive' | 'breaking', style: Style): string {
  return level === 'breaking' ? style.bad('breaks:') : style.dim(`${level}:`)
}

export function callersText(callers: Array<{ key_id: string; name: string | null }>, style: Style): string {
  const names = callers.slice(0, shownCallers).map(({ key_id: id, name }) => name ?? id)
  const more = callers.length > shownCallers ? ` and ${callers.length - shownCallers} more` : ''
  return style.warn(`called in the last 30 days by ${names.join(', ')}${more}`)
}

export function routingLines(
  { checked, regressions }: { checked: number; regressions: Release['routing']['regressions'] },
  style: Style,
): string[] {
  const asked = `${checked} test ${checked === 1 ? 'question' : 'questions'}`
  if (regressions.length === 0) return [`  ${style.good('✓')} ${asked}: same results as before`]
  return [
    `  ${style.bad('✗')} ${asked}: ${regressions.length} would be answered differently:`,
    ...regressions
      .slice(0, shownMoves)
      .map(
        ({ question, query, taken_by: taker }) =>
          `      “${question}” is for ${query ?? 'nobody'}, would go to ${taker ?? 'nobody'}`,
      ),
    ...(regressions.length > shownMoves ? [`      and ${regressions.length - shownMoves} more`] : []),
  ]
}

function summary(changed: PlanEntry[], style: Style): string {
  if (changed.length === 0) return '  Nothing to change.'
  const count = (action: PlanEntry['action'], word: string): string[] => {
    const found = changed.filter((entry) => entry.action === action).length
    return found === 0 ? [] : [`${found} to ${word}`]
  }
  const breaking = changed.filter((entry) => entry.release?.compatibility === 'breaking').length
  const parts = [...count('create', 'create'), ...count('update', 'change'), ...count('delete', 'delete')]
  return `  ${style.bold(parts.join(', '))}${breaking === 0 ? '' : `; ${style.bad(`${breaking} breaking`)}`}`
}

/** The first line of a plan that reaches further than its environment. */
export function sharedText(
  tables: Array<{ name: string; readers: Array<{ environment: string; query: string }> }>,
  environment: string,
  style: Style,
): string {
  const lines = tables.map(({ name, readers }) => {
    const by = [...Map.groupBy(readers, (each) => each.environment)].map(([other, all]) => {
      const more = all.length > shownCallers ? ` and ${all.length - shownCallers} more` : ''
      return `${style.bold(other)} (${all
        .slice(0, shownCallers)
        .map(({ query }) => query)
        .join(', ')}${more})`
    })
    return `      ${style.bold(name)} is read by ${by.join(', ')}`
  })
  const head = `A release to ${environment} also changes tables that other environments read:`
  return [`  ${style.warn('!')} ${style.warn(head)}`, ...lines].join('\n')
}

/** Drafts saved before, which are released with the rest. */
export function pendingText(
  {
    queries,
    regressions,
    broken,
  }: {
    queries: Release['queries']
    regressions: Release['routing']['regressions']
    broken: Array<{ name: string; message: string }>
  },
  style: Style,
): string {
  if (queries.length === 0 && broken.length === 0) return ''
  const lines = queries.flatMap(({ name, compatibility, changes, callers }) => [
    `  ${style.warn('~')} ${style.bold(name)}  ${compatibilityText(compatibility, style)}`,
    ...changes.map(({ level, message }) => `      ${levelText(level, style)} ${message}`),
    ...(callers.length > 0 ? [`      ${callersText(callers, style)}`] : []),
  ])
  const waiting = broken.map(({ message }) => `  ${style.warn('~')} ${message}`)
  const moves =
    regressions.length === 0 ? [] : ['', ...routingLines({ checked: regressions.length, regressions }, style)]
  return ['', '  Saved before, and not released there yet:', ...lines, ...waiting, ...moves].join('\n')
}

/** A release as it is told: what became of each query, what recorded calls said, and where it stands. */
export function releaseText(done: Release, style: Style): string {
  const width = Math.max(0, ...done.queries.map(({ name }) => visible(name)))
  const lines = done.queries.flatMap((query) => {
    const from = query.previous_version === null ? 'new' : `${query.previous_version}`
    const to = query.version === null ? 'removed' : `${query.version}`
    const versions = `${from} → ${to}`.padEnd(14)
    const head = `  ${style.bold(query.name)}${' '.repeat(width - visible(query.name))}  ${versions}`
    const notes = query.changes
      .filter(({ level }) => level === 'breaking')
      .map(({ message }) => `      ${style.bad('breaks:')} ${message}`)
    return [`${head}  ${compatibilityText(query.compatibility, style)}`, ...notes]
  })
  if (done.routing.checked > 0) lines.push('', ...routingLines(done.routing, style))
  if (done.replay !== null) lines.push(`  ${done.replay.summary}`)
  const trial = done.canary ?? done.shadow
  if (trial !== null) lines.push('', ...trialLines(done, trial, style))
  return lines.join('\n')
}

type Trial = NonNullable<Release['canary']>

/** A canary or shadow: whom it serves, and its figures beside those of the version before. */
function trialLines({ status, canary }: Release, trial: Trial, style: Style): string[] {
  const share = canary === null ? 'Shadow: runs alongside, serves nothing' : `Serves ${trial.percent} % of keys`
  const grown = trial.step === null ? '' : `, ${trial.step.percent} % more every ${trial.step.seconds} s`
  const lines = [`  ${status === 'canary' || status === 'shadow' ? `${share}${grown}.` : `The trial is over.`}`]
  for (const { query, after, before } of trial.queries) {
    const figuresText = (seen: typeof after): string =>
      `${seen.calls} calls, ${seen.errors} errors, p95 ${seen.p95_ms === null ? '–' : `${seen.p95_ms} ms`}`
    lines.push(`      ${style.bold(query)}  now ${figuresText(after)}; before ${figuresText(before)}`)
  }
  if (trial.compared !== null) {
    const { calls, different, dropped } = trial.compared
    const left = dropped === 0 ? '' : `, ${dropped} not run for want of room`
    lines.push(`      of ${calls} calls that were compared ${different} differ${left}`)
  }
  if (trial.because !== null) lines.push(`      ${style.bad(`rolled back: ${trial.because}`)}`)
  return lines
}

type Comparison = z.output<typeof modelComparison> & { name: string }

/** The rows of a model before and after a change of its SQL, and what reads them. */
export function comparisonText(compared: Comparison, style: Style): string {
  const { name, rows_before: before, rows_after: after, added, removed, changed, key } = compared
  const columns = Object.entries(compared.changed_by_column).map(([column, count]) => `${column} ${count}`)
  const byColumn = columns.length === 0 ? '' : ` (${columns.join(', ')})`
  const parts = [style.good(`+${added}`), style.bad(`-${removed}`), style.warn(`~${changed}${byColumn}`)]
  const by = key.length === 0 ? 'whole rows' : `by ${key.join(', ')}`
  const { models, queries, questions, callers } = compared.moves
  const asked = `${questions.length} test ${questions.length === 1 ? 'question' : 'questions'}`
  const moved = [...models.map((each) => `model ${each}`), ...queries, ...(questions.length === 0 ? [] : [asked])]
  return [
    '',
    `  ${style.bold(name)}: ${before} → ${after} rows, ${parts.join(' ')} ${style.dim(by)}`,
    ...(moved.length === 0 ? [] : [`      moves ${moved.join(', ')}`]),
    ...(callers.length === 0 ? [] : [`      ${callersText(callers, style)}`]),
  ].join('\n')
}
