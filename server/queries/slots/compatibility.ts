import type { SlotSchema, SlotsSchema } from '../../../api/slots.ts'
import type { Column } from '../../engine/index.ts'
import { isLess, slotTypeOf } from './slot-values.ts'

type Level = 'compatible' | 'additive' | 'breaking'
export type Change = { level: Level; message: string }
export type Compatibility = Level | 'first'

type Contract = { columns: Column[]; slots: SlotsSchema }

/** The changes that callers of the live version would notice. Breaking: a call or a reader that worked may fail. */
export function compareContracts(
  live: Contract | null,
  next: Contract,
): { compatibility: Compatibility; changes: Change[] } {
  if (live === null) return { compatibility: 'first', changes: [] }
  const changes = [...columnChanges(live.columns, next.columns), ...slotChanges(live.slots, next.slots)]
  const worst = (['breaking', 'additive'] as const).find((level) => changes.some((change) => change.level === level))
  return { compatibility: worst ?? 'compatible', changes }
}

function columnChanges(before: Column[], after: Column[]): Change[] {
  const types = new Map(after.map((column) => [column.name, column.type]))
  const known = new Set(before.map((column) => column.name))
  const changes = before.flatMap(({ name, type }): Change[] => {
    const now = types.get(name)
    if (now === undefined) return [{ level: 'breaking', message: `column ${name} is gone` }]
    if (now === type) return []
    const level = family(now) === family(type) ? 'compatible' : 'breaking'
    return [{ level, message: `column ${name} was ${type} and is ${now}` }]
  })
  const added = after.filter((column) => !known.has(column.name))
  return [...changes, ...added.map(({ name }): Change => ({ level: 'additive', message: `column ${name} is new` }))]
}

/** Types that look the same in an answer: every width of integer, every precision of decimal. */
function family(type: string): string {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer'
  if (/^(FLOAT|DOUBLE|DECIMAL)/.test(type)) return 'number'
  return type.startsWith('TIMESTAMP') ? 'timestamp' : type
}

function slotChanges(before: SlotsSchema, after: SlotsSchema): Change[] {
  const changes: Change[] = []
  const note = (level: Level, message: string): void => void changes.push({ level, message })
  for (const [name, was] of Object.entries(before.properties)) {
    const now = after.properties[name]
    if (now === undefined) {
      note('breaking', `slot ${name} is gone: API keys that fix it are no longer held to their value`)
      continue
    }
    if (isNeeded(after, name, now) && !isNeeded(before, name, was)) note('breaking', `slot ${name} is now required`)
    if (!isNeeded(after, name, now) && isNeeded(before, name, was)) note('additive', `slot ${name} is now optional`)
    changes.push(...valueChanges(name, was, now))
  }
  for (const [name, slot] of Object.entries(after.properties)) {
    if (before.properties[name] !== undefined) continue
    if (isNeeded(after, name, slot)) note('breaking', `slot ${name} is new and required`)
    else note('additive', `slot ${name} is new and optional`)
  }
  return changes
}

function isNeeded(schema: SlotsSchema, name: string, slot: SlotSchema): boolean {
  return schema.required.includes(name) && (slot.default ?? null) === null
}

/** Which values are taken: fewer is breaking, more is additive. */
function valueChanges(name: string, was: SlotSchema, now: SlotSchema): Change[] {
  const [wasType, nowType] = [slotTypeOf(was), slotTypeOf(now)]
  if (wasType !== nowType) {
    const widened = wasType.replace('integer', 'number') === nowType
    return [{ level: widened ? 'additive' : 'breaking', message: `slot ${name} was ${wasType} and is ${nowType}` }]
  }
  const [left, right] = [was.type === 'array' ? was.items : was, now.type === 'array' ? now.items : now]
  const changes: Change[] = []
  const wasPattern = 'pattern' in left ? left.pattern : undefined
  const nowPattern = 'pattern' in right ? right.pattern : undefined
  if (wasPattern !== nowPattern) {
    changes.push({
      level: nowPattern === undefined ? 'additive' : 'breaking',
      message: `slot ${name}: pattern changed`,
    })
  }
  changes.push(...choiceChanges(name, choicesOf(left), choicesOf(right)))
  for (const [bound, isTighter] of [
    ['minimum', (from: unknown, to: unknown) => isLess(from, to)],
    ['maximum', (from: unknown, to: unknown) => isLess(to, from)],
  ] as const) {
    const from = bound in left ? (left as Record<string, unknown>)[bound] : undefined
    const to = bound in right ? (right as Record<string, unknown>)[bound] : undefined
    if (from === to) continue
    const tighter = to !== undefined && (from === undefined || isTighter(from, to))
    changes.push({ level: tighter ? 'breaking' : 'additive', message: `slot ${name}: ${bound} changed` })
  }
  if (JSON.stringify(was.default ?? null) !== JSON.stringify(now.default ?? null)) {
    changes.push({ level: 'compatible', message: `slot ${name}: default changed` })
  }
  return changes
}

function choicesOf(slot: object): unknown[] | undefined {
  return 'enum' in slot && Array.isArray(slot.enum) ? (slot.enum as unknown[]) : undefined
}

function choiceChanges(name: string, was: unknown[] | undefined, now: unknown[] | undefined): Change[] {
  if (now === undefined)
    return was === undefined ? [] : [{ level: 'additive', message: `slot ${name} takes any value` }]
  if (was === undefined) return [{ level: 'breaking', message: `slot ${name} takes only ${now.length} values` }]
  const gone = was.filter((choice) => !now.includes(choice))
  if (gone.length > 0) return [{ level: 'breaking', message: `slot ${name} no longer takes ${gone.join(', ')}` }]
  return now.length > was.length ? [{ level: 'additive', message: `slot ${name} takes more values` }] : []
}
