import type { z } from 'zod'
import type { definitionPlan, planEntry } from '../../../api/definition.ts'
import type { release } from '../../../api/releases.ts'
import { createTwoFilesPatch } from 'diff'
import type { Style } from '../../terminal/style.ts'
import { visible } from '../../terminal/table.ts'

export type Plan = z.output<typeof definitionPlan>
export type PlanEntry = z.output<typeof planEntry>
export type Release = z.output<typeof release>

const marks = { create: '+', update: '~', delete: '-', unchanged: ' ' } as const
const shownCallers = 3
const shownMoves = 10

/** What would change, as people read it: the thing, what it means for callers, and which fields differ. */
export function planText({ plan, routing }: Plan, style: Style): string {
  const changed = plan.filter(({ action }) => action !== 'unchanged')
  const unchanged = plan.length - changed.length
  const kindWidth = Math.max(0, ...changed.map(({ kind }) => kind.length))
  const nameWidth = Math.max(0, ...changed.map(({ name }) => Math.min(40, visible(name))))
  const lines = changed.flatMap((entry) => entryLines(entry, { kindWidth, nameWidth, style }))
  if (unchanged > 0) lines.push(style.dim(`    ${unchanged} unchanged`))
  if (routing !== null) lines.push('', ...routingLines(routing, style))
  lines.push('', summary(changed, style))
  return lines.join('\n')
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

function changeLines({ field, before, after }: PlanEntry['changes'][number], style: Style): string[] {
  if (typeof before === 'string' && typeof after === 'string' && (before + after).includes('\n')) {
    return [`${field}:`, ...diffLines(before, after, style).map((line) => `  ${line}`)]
  }
  return [`${field}: ${style.bad(valueText(before))} → ${style.good(valueText(after))}`]
}

function valueText(value: unknown): string {
  const text =
    value === null || value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > shortText ? `${text.slice(0, shortText)}…` : text
}

/** The lines that differ, with two of what is around them. */
export function diffLines(before: string, after: string, style: Style): string[] {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 2 })
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
  const asked = `${checked} stored ${checked === 1 ? 'question' : 'questions'} asked again`
  if (regressions.length === 0) return [`  ${style.good('✓')} ${asked}, none would move`]
  return [
    `  ${style.bad('✗')} ${asked}, ${regressions.length} would move:`,
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

/** How a release does that is, or was, tried out. */
function trialLines({ status, canary }: Release, trial: Trial, style: Style): string[] {
  const share = canary === null ? 'It runs behind the calls' : `It answers ${trial.percent} % of the keys`
  const grown = trial.step === null ? '' : `, ${trial.step.percent} % more every ${trial.step.seconds} s`
  const lines = [`  ${status === 'canary' || status === 'shadow' ? `${share}${grown}.` : `It was tried out.`}`]
  for (const { query, after, before } of trial.queries) {
    const told = (seen: typeof after): string =>
      `${seen.calls} calls, ${seen.errors} errors, p95 ${seen.p95_ms === null ? '–' : `${seen.p95_ms} ms`}`
    lines.push(`      ${style.bold(query)}  now ${told(after)}; before ${told(before)}`)
  }
  if (trial.compared !== null) {
    const { calls, different, dropped } = trial.compared
    const left = dropped === 0 ? '' : `, ${dropped} not run for want of room`
    lines.push(`      of ${calls} calls that were compared ${different} differ${left}`)
  }
  if (trial.because !== null) lines.push(`      ${style.bad(`taken back: ${trial.because}`)}`)
  return lines
}
