import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Whether a test file reads the built web app or the bundle of the server. */
export function readsBuilds(path: string): boolean {
  return /[\\/]test[\\/](?:web|cli)[\\/]|[\\/]authorization-matrix\.|[\\/]server-bundle\./.test(path)
}

/** Waits for `npm test`, which builds beside the tests and says in a file when it is done; by hand nothing is built. */
export async function builds(): Promise<void> {
  const marker = process.env['TEST_BUILT'] ?? ''
  if (marker === '') return
  while (!existsSync(marker) || readFileSync(marker, 'utf8') === '') await wait(100)
  if (readFileSync(marker, 'utf8') !== 'ok') throw new Error('What this test reads could not be built.')
}
