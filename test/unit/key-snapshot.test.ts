import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyCredential, openSnapshot } from '../../server/access/keys/snapshot.ts'
import type { KeyRecord } from '../../server/access/keys/record.ts'

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const key = (fields: Partial<KeyRecord> & { secret: string; before?: string }): KeyRecord =>
  ({
    id: 'key_1',
    state: 'active',
    ...fields,
    hash: hashOf(fields.secret).toString('latin1'),
    previousHash: fields.before === undefined ? null : hashOf(fields.before).toString('latin1'),
  }) as KeyRecord

test('a credential that was looked up sees the next change of its key', () => {
  const snapshot = openSnapshot()
  snapshot.put(key({ secret: 'one' }))
  const credential = keyCredential('one')
  expect(snapshot.find(credential)).toMatchObject({ key: { state: 'active' }, secret: 'current' })
  expect(snapshot.find(credential)).toBe(snapshot.find(credential))

  snapshot.put(key({ secret: 'one', state: 'revoked' }))
  expect(snapshot.find(credential)).toMatchObject({ key: { state: 'revoked' } })

  snapshot.put(key({ secret: 'two', before: 'one' }))
  expect(snapshot.find(credential)).toMatchObject({ secret: 'previous' })

  snapshot.put(key({ secret: 'three', before: 'two' }))
  expect(snapshot.find(credential)).toBeUndefined()
})

test('a credential that was nobody’s is found once its key is there', () => {
  const snapshot = openSnapshot()
  const credential = keyCredential('later')
  expect(snapshot.find(credential)).toBeUndefined()
  snapshot.put(key({ secret: 'later' }))
  expect(snapshot.find(credential)).toMatchObject({ key: { id: 'key_1' } })
})
