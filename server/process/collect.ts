import { executionAsyncResource } from 'node:async_hooks'

type Options = { type: 'minor' | 'major'; execution: 'sync'; flavor?: 'last-resort' }

/**
 * There when the process was started with `--expose-gc`, as `npm start` does; without it more memory is kept. It could be
 * had of a context of its own instead, but with a second context everything that the process does costs a quarter more.
 */
const collect = globalThis.gc as ((options: Options) => void) | undefined

/**
 * Frees what died young, in about a millisecond. Pieces that a socket gave lie outside the heap, where the engine hardly
 * counts them: left alone, it keeps some 60 MB of pieces that were passed on long ago. Row `streaming` of `npm run bench`,
 * most memory: 147 and 153 MB without; the goal is 150.
 */
export function collectYoung(): void {
  collect?.({ type: 'minor', execution: 'sync' })
}

/**
 * Gives back some 30 MB that would be kept after a start, and as much after work. It takes a quarter of a second: when
 * nobody calls. Row `streaming`, most memory: 145 and 134 MB without.
 */
export function collectAll(): void {
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

const held: object[] = []

/**
 * Holds one of the objects in which Node keeps what waits for `process.nextTick`. A collection of everything forgets the
 * shape of objects when there is none left, and this is one that V8 never learns again: a tick then takes ten times as
 * long, and a call, which has six of them, a sixth longer. To be called before the first collection. Row `kept`: 54 µs of
 * the processor for an answer without, 44 to 46 with it.
 */
export async function keepTickShape(): Promise<object> {
  return await new Promise((resolve) => {
    process.nextTick(() => {
      const tick = executionAsyncResource()
      held.push(tick)
      resolve(tick)
    })
  })
}
