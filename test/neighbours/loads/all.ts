import { amplifiedLoads } from './amplified.ts'
import { backgroundLoads } from './background.ts'
import { buildLoads } from './builds.ts'
import { callLoads } from './calls.ts'
import { slots } from './given.ts'
import { callBodies, editorBodies, fatDefinitions, openBodies } from './hostile-bodies.ts'
import type { Load } from './load.ts'
import { readLoads, remainingBodies, remainingReads } from './reads.ts'
import { tableLoads } from './tables.ts'
import { upstreamLoads } from './upstreams.ts'

const withSlots = (load: Load): Load => ({ ...load, given: [slots] })
const own: Load[] = [
  ...openBodies,
  ...[...callBodies, ...editorBodies].map(withSlots),
  ...fatDefinitions,
  ...callLoads,
  ...upstreamLoads,
  ...buildLoads,
  ...readLoads,
  ...tableLoads,
  ...amplifiedLoads,
  ...backgroundLoads,
]

/** Every load, those of routes without one of their own included. */
export const loads: Load[] = [...own, ...remainingReads(own), ...remainingBodies(own)]
