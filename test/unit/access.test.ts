import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openAttempts } from '../../server/access/credentials/attempts.ts'
import { credentialKind, newCredential } from '../../server/access/credentials/credential.ts'
import { createPasswords } from '../../server/access/index.ts'
import { effectiveRole } from '../../server/access/people/roles.ts'

describe('credentials', () => {
  test('have the decided shape, and each is another', () => {
    const made = Array.from({ length: 200 }, () => newCredential('live').secret)
    for (const secret of made) expect(secret).toMatch(/^slc_live_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/)
    expect(new Set(made).size).toBe(200)
  })

  test('the checksum is CRC32 in base62, left-padded', () => {
    // Computed by hand with an independent implementation.
    expect(credentialKind('slc_test_00000000000000000000000000000000_21UYbo')).toBe('test')
  })

  test('any single changed character is caught without a look-up', () => {
    const { secret } = newCredential('mgmt')
    fc.assert(
      fc.property(fc.nat(secret.length - 1), fc.constantFrom(...'0aZ_-~'), (at, character) => {
        fc.pre(secret[at] !== character)
        expect(credentialKind(secret.slice(0, at) + character + secret.slice(at + 1))).toBeUndefined()
      }),
    )
  })
})

describe('passwords', () => {
  test('match only themselves; nobody matches a user who has none', async () => {
    const passwords = createPasswords()
    const stored = await passwords.hash('correct horse')
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=38912,t=2,p=1\$/)
    expect(await passwords.matches(stored, 'correct horse')).toBe(true)
    expect(await passwords.matches(stored, 'Correct horse')).toBe(false)
    expect(await passwords.matches(null, 'nobody has this password')).toBe(false)
  })
})

describe('attempts', () => {
  test('a caller who waits as long as told may fail again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(fc.nat(5000), { maxLength: 300 }), (perMinute, gaps) => {
        let now = 1_000_000
        const attempts = openAttempts(perMinute, () => now)
        for (const gap of gaps) {
          now += gap
          const wait = attempts.waitSeconds('a')
          now += wait * 1000
          expect(attempts.waitSeconds('a')).toBe(0)
          attempts.recordFailure('a')
        }
      }),
    )
  })

  test('of more keys than fit those that failed longest ago are forgotten, however often they are asked about', () => {
    const attempts = openAttempts(1, () => 0)
    attempts.recordFailure('first')
    attempts.recordFailure('second')
    for (let key = 0; key < 49_998; key += 1) attempts.recordFailure(`${key}`)
    attempts.recordFailure('first')
    expect(attempts.waitSeconds('second')).toBe(60)
    attempts.recordFailure('one more')
    expect([attempts.waitSeconds('first'), attempts.waitSeconds('second')]).toEqual([120, 0])
  })

  test('keys do not touch each other', () => {
    const attempts = openAttempts(1, () => 0)
    attempts.recordFailure('a')
    expect(attempts.waitSeconds('a')).toBe(60)
    expect(attempts.waitSeconds('b')).toBe(0)
  })
})

describe('roles', () => {
  const token = { kind: 'token', tokenId: 't', label: 't', requestId: null } as const
  const maker = { userId: 'u', administrator: false }

  test('a token has the smaller of its own role and that of its maker', () => {
    const editor = { ...token, projectId: null, role: 'editor', maker } as const
    expect(effectiveRole(editor, 'p', 'owner')).toBe('editor')
    expect(effectiveRole(editor, 'p', 'viewer')).toBe('viewer')
    expect(effectiveRole(editor, 'p', null)).toBeUndefined()
  })

  test('a token of one project has no role in another, whoever made it', () => {
    const bound = { ...token, projectId: 'p', role: 'owner', maker: null } as const
    expect(effectiveRole(bound, 'p', null)).toBe('owner')
    expect(effectiveRole(bound, 'q', 'owner')).toBeUndefined()
  })
})
