import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const prefixes = {
  user: 'usr',
  link: 'lnk',
  session: 'ses',
  project: 'prj',
  environment: 'env',
  datasource: 'ds',
  dataObject: 'obj',
  job: 'job',
  query: 'qry',
  version: 'ver',
  deploymentAct: 'act',
  key: 'key',
  token: 'tok',
  audit: 'aud',
  request: 'req',
  alert: 'alr',
  alertChannel: 'chn',
  alertEvent: 'evt',
  delivery: 'dlv',
} as const

type IdKind = keyof typeof prefixes

/** An opaque identifier with a type prefix. Sortable by time, so that a page of a list is a range of an index. */
export function newId(kind: IdKind, now = Date.now()): string {
  let time = ''
  for (let rest = now, digit = 0; digit < 10; digit += 1) {
    time = (alphabet[rest % 32] ?? '0') + time
    rest = Math.floor(rest / 32)
  }
  let random = ''
  for (const byte of randomBytes(16)) random += alphabet[byte % 32]
  return `${prefixes[kind]}_${time}${random}`
}
