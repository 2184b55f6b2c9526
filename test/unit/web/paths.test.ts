import { expect, test } from 'vitest'
import { nextPath, signInPath } from '../../../web/browser/paths.ts'

test('a sign-in leads back to the path that asked for it, with its query', () => {
  const search = new URL(signInPath('/p/prj_1/settings/audit?page=2'), 'http://sluice.test').search
  expect(nextPath(search)).toBe('/p/prj_1/settings/audit?page=2')
  expect(signInPath('/')).toBe('/sign-in')
})

test.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/sign-in?next=/a', ''])(
  'never to %s',
  (next) => {
    expect(nextPath(`?next=${encodeURIComponent(next)}`)).toBe('/')
  },
)
