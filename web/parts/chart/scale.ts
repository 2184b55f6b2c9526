export type Scale = { low: number; high: number; ticks: number[] }

type Of = {
  /** Begins where the numbers do, not at nothing: for those that would lie flat far above it. */
  isClose?: boolean
  /** Half a call is no mark on an axis. */
  isWhole?: boolean
}

const mostSteps = 5
const roundSteps = [1, 2, 5, 10]

/** Three to six marks at round numbers, which hold all of these between them. */
export function scaleOf(numbers: number[], { isClose = false, isWhole = false }: Of = {}): Scale {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  const from = Number.isFinite(least) ? (isClose ? least : Math.min(0, least)) : 0
  const to = Number.isFinite(most) ? (isClose ? most : Math.max(0, most)) : 1
  const rough = (to - from || Math.abs(to) || 1) / mostSteps
  const power = 10 ** Math.floor(Math.log10(rough))
  const round = power * (roundSteps.find((each) => each * power >= rough * 0.999) ?? 10)
  const step = isWhole ? Math.max(1, round) : round
  const first = Math.floor(from / step)
  const count = Math.max(1, Math.ceil(to / step - 1e-9) - first)
  // Sums of tenths are not tenths.
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)))
  return { low: ticks[0] ?? 0, high: ticks.at(-1) ?? 1, ticks }
}

export function shareIn({ low, high }: Scale, value: number): number {
  return (value - low) / (high - low)
}

/** Bars have a band each; the points of a line stand at its ends, too. */
export type Spread = 'bands' | 'ends'

export function shareOf(spread: Spread, piece: number, count: number): number {
  return spread === 'bands' || count < 2 ? (piece + 0.5) / count : piece / (count - 1)
}

export function pieceAt(spread: Spread, share: number, count: number): number {
  const at = spread === 'bands' ? Math.floor(share * count) : Math.round(share * (count - 1))
  return Math.min(count - 1, Math.max(0, at))
}

/** Where a value begins and ends; null: not known. */
export type Reach = [from: number, to: number] | null

/** Values of each line: from nothing, or from the end of what is below in their stack. */
export function reachesOf(lines: Array<{ values: Array<number | null>; stack: string | null }>): Reach[][] {
  const ends = new Map<string, number>()
  return lines.map(({ values, stack }) =>
    values.map((value, at): Reach => {
      if (value === null) return null
      if (stack === null) return [0, value]
      // Values below nothing are stacked downwards.
      const key = `${at} ${value < 0} ${stack}`
      const from = ends.get(key) ?? 0
      ends.set(key, from + value)
      return [from, from + value]
    }),
  )
}
