import { describe, expect, test } from 'vitest'
import { limits, limitVariable, readConfig } from '../../server/config.ts'

describe('readConfig', () => {
  test('has a default for everything', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ port: 4400, host: '127.0.0.1', example: 'on', limits: { bodyBytes: 1_048_576 } })
  })

  test('an empty variable counts as not given', () => {
    expect(readConfig({ PORT: '', SLUICE_DATABASE_URL: '' })).toMatchObject({ port: 4400, databaseUrl: undefined })
  })

  test.each([
    ['PORT', 'x'],
    ['PORT', '70000'],
    ['SLUICE_DATABASE_URL', 'mysql://x'],
    ['SLUICE_EXAMPLE', 'maybe'],
    ['SLUICE_BODY_BYTES', '1'],
    ['SLUICE_BODY_BYTES', '1.5'],
    ['SLUICE_MANAGEMENT_TOKEN', 'short'],
    ['SLUICE_PUBLIC_URL', 'ftp://x'],
    ['SLUICE_REDIS_URL', 'http://x'],
    ['SLUICE_PLANS', 'free=60'],
    ['SLUICE_PLANS', 'free=0/1'],
    ['SLUICE_PLANS', 'pro=60/20,pro=1/1'],
    ['SLUICE_PLANS', ' , '],
    ['SLUICE_DEFAULT_PLAN', 'gold'],
    ['SLUICE_OWNER_PLANS', 'pro,gold'],
  ])('%s=%s is one line that names the variable', (variable, value) => {
    const config = readConfig({ [variable]: value })
    expect(config).toEqual({ mistakes: [expect.stringMatching(new RegExp(`^${variable} `))] })
  })

  test('plans read as a table', () => {
    expect(readConfig({ SLUICE_PLANS: 'pro=600/100/50000, open' })).toMatchObject({
      plans: [
        { name: 'pro', rate: { perMinute: 600, burst: 100 }, perDay: 50_000 },
        { name: 'open', rate: null, perDay: null },
      ],
    })
  })

  test('settings that contradict each other are all told at once', () => {
    const environment = { SLUICE_DEFAULT_PLAN: 'gold', SLUICE_OWNER_PLANS: 'gold', SLUICE_TRINO_URL: 'http://trino' }
    expect(readConfig(environment)).toEqual({
      mistakes: Object.keys(environment).map((variable) => expect.stringMatching(new RegExp(`^${variable} `))),
    })
  })

  test('a misspelled name is a mistake, with what was perhaps meant', () => {
    expect(readConfig({ SLUICE_DATABSE_URL: 'postgres://x' })).toEqual({
      mistakes: ['SLUICE_DATABSE_URL is not a setting; perhaps you meant SLUICE_DATABASE_URL'],
    })
  })

  test('a limit that is fixed now is named and ignored, and the start goes on', () => {
    const config = readConfig({ SLUICE_BODY_DEPTH: '9', SLUICE_OUTBOUND_TRIES: '7', SLUICE_RELEASE_WAIT_MS: 'x' })
    expect(config).toMatchObject({
      retired: ['SLUICE_BODY_DEPTH', 'SLUICE_RELEASE_WAIT_MS', 'SLUICE_OUTBOUND_TRIES'],
      limits: { outboundTries: 3 },
    })
  })

  test('few enough limits can be set that somebody can read them all', () => {
    expect(Object.keys(limits).length).toBeLessThanOrEqual(64)
  })

  test('a mistake never repeats the value, which may be a secret', () => {
    const config = readConfig({ SLUICE_SECRET_KEY: 'tiny-secret', SLUICE_DATABASE_URL: 'postgrs://u:pass@h/d' })
    expect(JSON.stringify(config)).not.toMatch(/tiny-secret|pass/)
  })

  test('every default is within its own range', () => {
    for (const [name, { fallback, least, most }] of Object.entries(limits)) {
      expect(fallback, limitVariable(name)).toBeGreaterThanOrEqual(least)
      expect(fallback, limitVariable(name)).toBeLessThanOrEqual(most)
    }
  })
})
