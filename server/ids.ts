import { randomFillSync } from 'node:crypto'

/** An environment of a project: where queries are deployed, called and asked. */
export type Place = { projectId: string; environment: string }

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const prefixes = {
  user: 'usr',
  link: 'lnk',
  session: 'ses',
  project: 'prj',
  environment: 'env',
  datasource: 'ds',
  dataObject: 'obj',
  dataPart: 'prt',
  job: 'job',
  query: 'qry',
  version: 'ver',
  deploymentAct: 'act',
  release: 'rel',
  key: 'key',
  queryLink: 'qlk',
  token: 'tok',
  audit: 'aud',
  request: 'req',
  alert: 'alr',
  alertChannel: 'chn',
  alertEvent: 'evt',
  delivery: 'dlv',
  question: 'qst',
  evaluationCase: 'cas',
  evaluationRun: 'run',
  variable: 'var',
  api: 'api',
  grant: 'grt',
  counterExample: 'cex',
  recordedCall: 'rec',
  replay: 'rpl',
  replayCall: 'rpc',
  oauthClient: 'cli',
  oauthGrant: 'gra',
  programSignIn: 'psi',
  browserToken: 'btk',
  view: 'viw',
  notificationChannel: 'nch',
} as const

/** Random bytes are drawn for many ids at once: asking for sixteen costs as much as asking for thousands. */
const drawn = Buffer.alloc(4_096)
let used = drawn.length

/** Every two letters: a text is put together in half as many steps. */
const pairs = Array.from({ length: 1_024 }, (_, at) => `${alphabet[at >> 5]}${alphabet[at & 31]}`)

type IdKind = keyof typeof prefixes

/** An opaque identifier with a type prefix. Sortable by time, so that a page of a list is a range of an index. */
export function newId(kind: IdKind, now = Date.now()): string {
  if (now !== last.now) last = { now, text: timeText(now) }
  if (used + 16 > drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  let random = ''
  for (const end = used + 16; used < end; used += 2) {
    random += pairs[((drawn[used] ?? 0) % 32) * 32 + ((drawn[used + 1] ?? 0) % 32)]
  }
  return `${prefixes[kind]}_${last.text}${random}`
}

/** Many ids are made in one millisecond. */
let last = { now: 0, text: timeText(0) }

function timeText(now: number): string {
  let text = ''
  for (let rest = now, digit = 0; digit < 10; digit += 1) {
    text = (alphabet[rest % 32] ?? '0') + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** When an id of this kind was made, in milliseconds; null for what is none. */
export function timeOfId(kind: IdKind, id: string): number | null {
  const [prefix, text = ''] = id.split('_')
  if (prefix !== prefixes[kind] || text.length !== 26) return null
  let time = 0
  for (const letter of text.slice(0, 10)) {
    const digit = alphabet.indexOf(letter)
    if (digit < 0) return null
    time = time * 32 + digit
  }
  // Beyond this there are no dates.
  return time <= 8_640_000_000_000_000 - 86_400_000 ? time : null
}
