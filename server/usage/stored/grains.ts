/** The periods that calls are counted by, finest first. A series by five minutes is summed from minutes when it is read. */
export const grains = ['minute', 'hour', 'day'] as const
export type Grain = (typeof grains)[number]
/**
 * Stored figures: by kind of call, and summed over all but environment and outcome. A series without a filter reads
 * sums: four rows for each hour where kinds may be hundreds.
 */
export type Stored = Grain | `${Grain}-sum`

export const grainMs: Record<Grain, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

export function grainOf(stored: Stored): Grain {
  return grains.find((grain) => stored.startsWith(grain)) ?? 'minute'
}
