import { useSyncExternalStore } from 'react'

const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/**
 * A moment as people say it, with the exact one behind it. Where it stands in what is read aloud when it changes,
 * that a minute has passed is no news.
 */
export function Ago({ at }: { at: string }) {
  const nowMs = useSyncExternalStore(everyHalfMinute, readClock)
  const date = new Date(at)
  return (
    <time dateTime={at} title={absolute.format(date)} aria-live="off">
      {sayRelative(date.getTime() - nowMs)}
    </time>
  )
}

/** A moment exactly. */
export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{absolute.format(new Date(at))}</time>
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** A moment to the second: what tells one of many alike by ear. */
export function sayExactly(at: string): string {
  return exact.format(new Date(at))
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** A moment of a list that goes on while one looks: to the second, with its day where that is not today. */
export function Second({ at }: { at: string }) {
  const date = new Date(at)
  const nowMs = useSyncExternalStore(everyHalfMinute, readClock)
  const today = date.toDateString() === new Date(nowMs).toDateString()
  return (
    <time dateTime={at} title={absolute.format(date)}>
      {today ? '' : `${day.format(date)}, `}
      {clock.format(date)}
    </time>
  )
}

export function Day({ at }: { at: string }) {
  return <time dateTime={at}>{day.format(new Date(at))}</time>
}

function sayRelative(awayMs: number): string {
  const awaySeconds = awayMs / 1000
  for (const [unit, seconds] of units) {
    if (Math.abs(awaySeconds) >= seconds) return relative.format(Math.round(awaySeconds / seconds), unit)
  }
  return 'just now'
}

/** One clock for all of them. It stands still between its ticks, so that drawing twice gives the same words. */
let clockMs: number | null = null
let timer: ReturnType<typeof setInterval> | undefined
const watchers = new Set<() => void>()

function readClock(): number {
  clockMs ??= Date.now()
  return clockMs
}

function everyHalfMinute(watcher: () => void): () => void {
  watchers.add(watcher)
  timer ??= setInterval(() => {
    clockMs = Date.now()
    for (const each of watchers) each()
  }, 30_000)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
    clockMs = null
  }
}
