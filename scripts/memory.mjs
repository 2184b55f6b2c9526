/**
 * Memory of processes: flags of V8 and variables of the C library, each with the row of `npm run bench` that it is for and
 * what that row gave without it (two rounds, 130 MB both times with all of it, on a machine with other work: up to 15 MB
 * are noise). The row idle proves none: at rest the whole tree took 206 to 227 MB whichever was missing, and 225 and 226
 * with all. Plain JavaScript: `launch.mjs` reads it before anything is installed. `server/process/collect.ts` has
 * what the service does by itself.
 */

/** The service. */
export const serviceFlags = [
  // streaming, most memory: 143 and 142 MB without; the goal is 150.
  '--max-semi-space-size=4',
  // formats: a collection of the whole heap for nearly every answer of 7 MB without.
  '--heap-growing-percent=50',
  // streaming, most memory: 147 and 153 MB where nothing is collected while rows pass through.
  '--expose-gc',
  // streaming, first byte of the first call after a start: on a quiet machine 32 to 46 ms without, 27 to 28 with it.
  '--no-flush-bytecode',
]
export const serviceVariables = {
  // streaming, most memory: 153 and 130 MB without.
  MALLOC_ARENA_MAX: '2',
  // streaming, most memory: 150 and 140 MB without.
  MALLOC_TRIM_THRESHOLD_: '1048576',
}

/** An executor. */
export const executorFlags = [
  // scale, more memory: 80 to 100 MB more of the executor that writes lookups without.
  '--max-semi-space-size=8',
]
export const executorVariables = {
  // No row: its limit counts what is mapped, and by itself the allocator retains every address that it has ever had. Two
  // answers of thousands of columns one after the other ran into the limit (test/worker/engine-pool.test.ts).
  DUCKDB_JE_MALLOC_CONF: 'retain:false,narenas:1',
  MALLOC_ARENA_MAX: '2',
}

/** A process that encodes and reads questions: one thing at a time, and little of it in JavaScript. */
export const encoderFlags = ['--max-semi-space-size=1', '--single-threaded']
export const encoderVariables = {
  // question: a quarter of a reading is spent on taking pages and giving them back without (Linux with glibc).
  GLIBC_TUNABLES: 'glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=8388608:glibc.malloc.arena_max=1',
}
