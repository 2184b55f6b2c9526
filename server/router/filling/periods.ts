import {
  dayValue,
  endValue,
  inclusive,
  periodOf,
  todayOf,
  type CallerTime,
  type DateSpan,
  type Period,
  type Reading,
  type Span,
} from '../../language/index.ts'
import { spoken, type Slot } from '../project/project.ts'
import type { Option } from './options.ts'

/** The value of one end of a stretch: where nothing says otherwise, the slot's own day belongs to the range. */
export function dayFor(slot: Slot, days: DateSpan, { timeZone }: CallerTime): string {
  const { bound, role, rules } = slot
  const { format } = rules
  const isEnd = role === 'end'
  if (bound !== null && role !== null) return endValue(days, { ...bound, side: role }, { format, timeZone })
  // Without any SQL, as in the worlds of a benchmark, a slot's name is all there is: `due_before` is the day not included.
  const isExclusive = days.isStrict && /\b(?:before|after)\b/.test(spoken(slot.name))
  if (isExclusive) return dayValue(days, isEnd ? 'first' : 'last', format, timeZone)
  return dayValue(inclusive(days), isEnd ? 'last' : 'first', format, timeZone)
}

type Filling = { parameters: Record<string, unknown>; sources: Record<string, unknown> }
type Giving = { give: (slot: Slot, value: unknown, place: Span) => void; clock: CallerTime; done: Filling }

/** "in March" fills both `from` and `to`; "until March" only `to`, "since March" only `from` where today need not be named. */
export function spreadRanges(slots: Slot[], chosen: Map<Slot, Option>, { give, clock, done }: Giving): void {
  const dated = slots.filter(({ type }) => type.kind === 'date')
  const start = dated.find((slot) => slot.role === 'start')
  const end = dated.find((slot) => slot.role === 'end')
  if (start === undefined || end === undefined) return
  const [from, to] = [chosen.get(start), chosen.get(end)]
  const only = from ?? to
  if (from !== undefined && to !== undefined && from.span !== to.span) {
    if (!isTurned(from, to)) return
    // "Jan/Feb": the earlier of two days begins the stretch, whichever of them the words would give it.
    for (const [slot, { reading, span }] of [
      [start, to],
      [end, from],
    ] as const) {
      if (reading.days !== null) give(slot, dayFor(slot, reading.days, clock), span)
    }
    return
  }
  if (only === undefined || only.reading.days === null) return
  const { days } = only.reading
  for (const slot of [start, end]) {
    delete done.parameters[slot.name]
    delete done.sources[slot.name]
  }
  if (days.open !== 'before') give(start, dayFor(start, days, clock), only.span)
  if (days.open !== 'after') give(end, dayFor(end, days, clock), only.span)
  else if (end.required) give(end, dayFor(end, todayOf(days, clock), clock), only.span)
}

function isTurned({ reading: { days: from } }: Option, { reading: { days: to } }: Option): boolean {
  return from?.open === null && to?.open === null && from.isReal && to.isReal && from.first > to.first
}

/** The period that the question names, for who reads the answer, with the slots that leave their own day out. */
export function periodIn(
  slots: Slot[],
  chosen: Map<Slot, { reading: Reading }>,
  { parameters }: Pick<Filling, 'parameters'>,
): Period | null {
  const dated = [...chosen].flatMap(
    ([
      slot,
      {
        reading: { days },
      },
    ]) => {
      return slot.type.kind === 'date' && !slot.list && days !== null ? [{ slot, days }] : []
    },
  )
  const [one, other] = dated
  if (one === undefined || dated.length > 2) return null
  const days = other === undefined ? one.days : joined(one, other)
  if (days === null) return null
  const apart = slots.filter(({ name, bound }) => bound?.bound === 'exclusive' && name in parameters)
  const period = periodOf(days)
  // Nothing lies between "after March and before February".
  if (period.first !== null && period.last !== null && period.first > period.last) return null
  if (apart.length === 0) return period
  const names = apart.map(({ name }) => spoken(name)).join(', ')
  return { ...period, text: `${period.text} (${names} exclusive)` }
}

type Dated = { slot: Slot; days: DateSpan }

/** "after 3 March and before 9 April", each for its own slot. */
function joined(one: Dated, other: Dated): DateSpan | null {
  const [start, end] = one.slot.role === 'start' ? [one, other] : [other, one]
  if (start.slot.role !== 'start' || end.slot.role !== 'end') return null
  if (start.days === end.days) return start.days
  const [from, to] = [start.days, end.days].map(inclusive).toSorted((a, b) => (a.first < b.first ? -1 : 1))
  if (from === undefined || to === undefined) return null
  const { time } = from
  return { ...from, last: to.last, open: null, isStrict: false, time, endTime: to.endTime ?? to.time }
}
