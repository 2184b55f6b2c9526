/**
 * The pieces that reports are cut into each have figures of their own; finest first. A span is 16 days: no series is cut
 * so, but what is counted over a year is read from them.
 */
export const grains = ['minute', 'five', 'hour', 'day', 'span'] as const
export type Grain = (typeof grains)[number]
/**
 * Figures as they are stored: by kind of call, and summed up over all but environment and outcome. A series needs no
 * more than the sums, and they are few where kinds may be hundreds in every minute.
 */
export type Stored = Grain | `${Exclude<Grain, 'span'>}-sum`

export const grainMs: Record<Grain, number> = {
  minute: 60_000,
  five: 300_000,
  hour: 3_600_000,
  day: 86_400_000,
  span: 16 * 86_400_000,
}

export function storedMs(stored: Stored): number {
  return grainMs[grainOf(stored)]
}

export function grainOf(stored: Stored): Grain {
  return grains.find((grain) => stored === grain || stored === `${grain}-sum`) ?? 'minute'
}
