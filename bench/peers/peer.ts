import type { Spawned } from '../anchors/spawned.ts'
import type { Target } from '../load.ts'
import type { Worlds } from '../worlds.ts'

/** A server that people would pick instead, with the rows of `data`, and how it is asked for a row and for groups. */
export type RunningPeer = Spawned & { lookup: Target; groups: Target }
export type Peer = {
  name: string
  /** Installs it once, into a folder of the cache; throws where that cannot be done. */
  open(worlds: Worlds, cache: string): Promise<RunningPeer>
}
