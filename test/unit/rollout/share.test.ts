import { expect, test } from 'vitest'
import {
  answersKey,
  liveVersion,
  versionFor,
  type Deployment,
} from '../../../server/queries/deployed/deployment-index.ts'

const keys = Array.from({ length: 10_000 }, (_, at) => `key_${at}`)
const answered = (releaseId: string, share: number): Set<string> =>
  new Set(keys.filter((key) => answersKey({ releaseId, share }, key)))

/** Four standard deviations: keys are drawn by a hash that does not change, so this is the same in every run. */
function bounds(share: number): [number, number] {
  const p = share / 10_000
  const spread = 4 * Math.sqrt(keys.length * p * (1 - p))
  return [keys.length * p - spread, keys.length * p + spread]
}

test.each([1, 100, 500, 3_000, 5_000, 9_900])('a share of %s in ten thousand keys is that share', (share) => {
  for (const releaseId of ['rel_a', 'rel_b', 'rel_c']) {
    const [least, most] = bounds(share)
    const { size } = answered(releaseId, share)
    expect(size).toBeGreaterThanOrEqual(least)
    expect(size).toBeLessThanOrEqual(most)
  }
})

test('none is none, and all is all', () => {
  expect(answered('rel_a', 0).size).toBe(0)
  expect(answered('rel_a', 10_000).size).toBe(keys.length)
})

test('a larger share holds every key of a smaller one', () => {
  const few = answered('rel_a', 700)
  const more = answered('rel_a', 2_500)
  for (const key of few) expect(more.has(key)).toBe(true)
})

test('another release begins with other keys', () => {
  const [one, other] = [answered('rel_a', 1_000), answered('rel_b', 1_000)]
  const both = [...one].filter((key) => other.has(key)).length
  expect(both).toBeLessThan(one.size / 4)
})

test('where nothing is tried out, choosing the version of a call is one look more', () => {
  const looks: PropertyKey[] = []
  const version = liveVersion({ number: 1 } as Parameters<typeof liveVersion>[0])
  const deployment = new Proxy<Deployment>(
    { projectId: 'p', environment: 'e', name: 'n', version, trial: null },
    {
      get: (target, name, self) => {
        looks.push(name)
        return Reflect.get(target, name, self) as unknown
      },
    },
  )
  expect(versionFor(deployment, 'key')).toBe(version)
  expect(looks).toEqual(['trial', 'version'])
})
