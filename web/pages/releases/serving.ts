import type { ReleaseEntry } from '../deploy/shared/wire.ts'

/** Whether a release still answers, and for how long it did. */
export type Serving = { isNow: boolean; ms: number }

/** Releases of one environment come newest first: each serves until later ones have changed all of its queries. */
export function servingOf(releases: ReleaseEntry[], nowMs = Date.now()): Map<string, Serving> {
  const changed = new Map<string, number>()
  const found = new Map<string, Serving>()
  for (const { id, act, status, query_names: names, created_at: at } of releases) {
    const beganMs = Date.parse(at)
    // A shadow answers nobody, a canary its part of the callers: neither ends what answers the others.
    const isWhole = status !== 'canary' && status !== 'shadow' && status !== 'checked'
    const ends = names.map((name) => changed.get(name) ?? null)
    const isNow = ends.includes(null)
    const endMs = isNow ? nowMs : Math.max(...ends.map((end) => end ?? nowMs))
    if (isWhole && act !== 'undeploy') found.set(id, { isNow, ms: Math.max(0, endMs - beganMs) })
    if (isWhole) for (const name of names) changed.set(name, beganMs)
  }
  return found
}

const steps = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const

/** The largest unit says enough. */
export function sayDuration(ms: number): string {
  for (const [unitMs, unit] of steps) {
    const count = Math.floor(ms / unitMs)
    if (count > 0) return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
  }
  return 'under a minute'
}
