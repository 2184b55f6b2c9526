import type { FileLease, Files, StoredFile } from './stored-files.ts'

type Options<Result> = {
  signal?: AbortSignal | undefined
  /** For a streamed result: resolves when it is no longer read. */
  until?: (result: Result) => Promise<unknown>
}

/**
 * Does something with files that stay here meanwhile. One that turns out to be gone all the same, because someone wiped
 * the folder, is brought again, once.
 */
export async function leasing<Result>(
  files: Files,
  needed: readonly StoredFile[],
  use: () => Promise<Result>,
  options: Options<Result> = {},
): Promise<Result> {
  try {
    return await whileLeased(files, needed, use, options)
  } catch (error) {
    if (!(await files.missed(needed))) throw error
    return whileLeased(files, needed, use, options)
  }
}

async function whileLeased<Result>(
  files: Files,
  needed: readonly StoredFile[],
  use: () => Promise<Result>,
  { signal, until }: Options<Result>,
): Promise<Result> {
  const lease = files.leaseHere(needed) ?? (await leaseAll(files, needed, signal))
  let isReadOn = false
  try {
    const result = await use()
    if (until !== undefined) {
      isReadOn = true
      void until(result)
        .catch(() => undefined)
        .finally(() => lease.release())
    }
    return result
  } finally {
    if (!isReadOn) lease.release()
  }
}

/** All or none. */
async function leaseAll(
  files: Files,
  needed: readonly StoredFile[],
  signal: AbortSignal | undefined,
): Promise<{ release(): void }> {
  const settled = await Promise.allSettled(needed.map((file) => files.lease(file, signal)))
  const leases = settled.flatMap((each): FileLease[] => (each.status === 'fulfilled' ? [each.value] : []))
  const release = () => leases.forEach((lease) => lease.release())
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed === undefined) return { release }
  release()
  throw failed.reason
}
