import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { httpConfiguration, pagination } from '../../api/connections.ts'
import { dataVersion, loadWarnings } from '../../api/data.ts'
import { changeTableSchema } from '../../api/datasources.ts'
import { definedSettings } from '../../api/definition.ts'
import { moveEngine } from '../../api/engine-moves.ts'
import { errorEnvelope } from '../../api/envelope.ts'
import { buildRequest } from '../../server/connections/request/build-request.ts'
import { checkPagination } from '../../server/connections/request/pages.ts'
import { fillVariables, type NamedValues } from '../../server/connections/request/variables.ts'
import { withApi } from '../../server/connections/request/with-api.ts'
import { messageOf } from '../../server/usage/alerts/measure/alert.ts'

const serviceKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey

const named: NamedValues = new Map([
  ['region', { value: 'north', origins: null }],
  ['shop_key', { value: 'sk', origins: ['https://api.example'] }],
  ['shop_password', { value: 'pw', origins: ['https://shop.example'] }],
  ['service_key', { value: serviceKey, origins: ['https://storage.example', 'https://oauth2.example'] }],
  ['exchange', { value: 'sk', origins: ['https://exchange.example'] }],
])

/** What a block without a command of its own is checked with, by the word behind its language. */
export const checks: Record<string, (shown: unknown) => void> = {
  pagination: (shown) => checkPagination(pagination.parse(shown)),

  /** A part of a request, or a whole one. */
  request(shown) {
    const given = httpConfiguration.parse({ url: 'https://api.example', method: 'GET', ...(shown as object) })
    const request = withApi(given, { url: 'https://shop.example/v1' })
    const filled = fillVariables(request, { at: new Date(), values: named })
    expect(JSON.stringify(filled)).not.toContain('{{')
    buildRequest(filled)
  },

  'table-schema': (shown) => void changeTableSchema.parse(shown),
  versions(shown) {
    const { data } = shown as { data: object[] }
    for (const version of data) dataVersion.partial().strict().parse(version)
  },
  warnings: (shown) => void loadWarnings.parse(shown),
  envelope: (shown) => void errorEnvelope.parse(shown),

  /** Has what the service sends, and nothing else. */
  webhook(shown) {
    const sent = messageOf(
      firing,
      { state: 'firing', startedAt: new Date() },
      { kind: 'firing', value: 1, at: new Date() },
    )
    expect(shapeOf(shown)).toEqual(shapeOf(JSON.parse(JSON.stringify(sent))))
  },

  'engine-move': (shown) => void moveEngine.parse(shown),

  settings: (shown) => void definedSettings.parse((shown as { settings: unknown }).settings),

  /** Values that the chart has; `npm test -- deploy` renders such ones, and asks its schema. */
  'chart-values'(shown) {
    const chart = join(import.meta.dirname, '../../deploy/helm/sluice')
    const { settings: _, ...usual } = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>
    const { settings: given, ...values } = shown as Record<string, unknown>
    expect(usual).toMatchObject(namesOf(values))
    const known = readFileSync(join(chart, '../../../docs/configuration.md'), 'utf8')
    for (const setting of Object.keys(given as object)) expect(known).toContain(`\`${setting}\``)
  },

  workflow(shown) {
    const { jobs } = shown as { jobs: Record<string, unknown> }
    expect(Object.keys(jobs)).toEqual(['plan', 'release'])
  },
}

/** The same names, each with anything. */
function namesOf(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? namesOf(value) : expect.anything(),
    ]),
  )
}

/** The names that an object has, with those inside it. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return true
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

const firing = {
  id: 'alr_01J',
  projectId: 'prj_01J',
  name: 'Too many errors',
  type: 'error_rate_above' as const,
  threshold: 0.05,
  resolveThreshold: null,
  windowMinutes: 10,
  forMinutes: 0,
  minRequests: 20,
  remindMinutes: null,
  environment: 'production',
  query: null,
  enabled: true,
  state: 'firing' as const,
  value: 0.12,
  pendingSince: null,
  startedAt: null,
  notifiedAt: null,
  evaluatedAt: null,
  createdAt: new Date(0),
  silencedUntil: null,
  silencedBy: null,
  silencedReason: null,
  unannounced: false,
}
