import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { readsAsItComes } from '../../../rows/index.ts'
import { throwIfCancelled, type Cancellable } from '../instance/instances.ts'
import type { AnswerBody } from '../socket/protocol.ts'

const lookEveryMs = 2
/** The place is for others when nothing comes for so long. */
const mostWaitMs = 250

/** Tells who has read a body up to `position`, while it is written, whether there is more; it waits until that is known. */
export async function followBody(
  { path, contentType }: AnswerBody,
  wholeMark: string,
  call: Cancellable,
): Promise<(position: number) => Promise<boolean>> {
  if (!(await readsAsItComes(path, contentType))) throw new Error('this body can be read only once it is whole')
  let isWhole = false
  return async (position) => {
    if (isWhole) return false
    const startedMs = performance.now()
    while (performance.now() - startedMs < mostWaitMs) {
      throwIfCancelled(call)
      // Bytes written before the mark are read after the mark was seen.
      isWhole = await isThere(wholeMark)
      if (isWhole || (await stat(path)).size > position) return true
      await delay(lookEveryMs)
    }
    throw new Error('the body comes too slowly to be read while it is written')
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
