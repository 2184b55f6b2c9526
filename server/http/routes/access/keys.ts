import {
  apiKey,
  changeApiKey,
  createdApiKey,
  keyAddress,
  newApiKey,
  plan,
  reach,
  rotateApiKey,
} from '../../../../api/keys.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import type { Http } from '../../request/http.ts'
import { shortList, made, nothing, one, operations, page, pageOnly } from '../operations.ts'
import { keyInputOf, wireCreatedKey, wireKey, wireReach } from './key-wire.ts'

const keys = '/v1/api-keys'
const path = `${keys}/:key_id`

export function serveKeys(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'keys')
  post(
    keys,
    {
      summary: 'Create an API key',
      description: 'For owners of every project that it reaches. The secret is in this answer and never again.',
      body: newApiKey,
      answer: made(createdApiKey, wireCreatedKey),
    },
    (app, caller, body) => {
      const { name = '', permissions = [], ...rest } = keyInputOf(body)
      return access.createKey(app, caller, { ...rest, name, permissions })
    },
  )
  get(
    keys,
    {
      summary: 'The API keys whose every project the caller owns',
      query: pageOnly,
      answer: page(apiKey, wireKey),
    },
    access.listKeys,
  )
  get(path, { summary: 'One API key', answer: one(apiKey, wireKey) }, (app, caller, { keyId }) =>
    access.findKey(app, caller, keyId),
  )
  patch(
    path,
    {
      summary: 'Change an API key',
      description: 'What is left out stays as it is. In force on every replica within a second.',
      body: changeApiKey,
      answer: one(apiKey, wireKey),
    },
    (app, caller, { keyId, ...body }) => access.updateKey(app, caller, { ...keyInputOf(body), keyId }),
  )
  del(path, { summary: 'Revoke an API key for ever', answer: nothing }, (app, caller, { keyId }) =>
    access.revokeKey(app, caller, keyId),
  )
}

/** Acts on a key beside making, changing and revoking it. */
export function serveKeyActs(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'keys')
  post(
    `${path}/rotate`,
    {
      summary: 'Give an API key a new secret',
      description: 'The old one is good for the grace time. A secret that was in its grace already ends now.',
      body: rotateApiKey.nullish(),
      answer: one(createdApiKey, wireCreatedKey),
    },
    (app, caller, { keyId, graceSeconds = rotateApiKey.parse({}).grace_seconds }) =>
      access.rotateKey(app, caller, { keyId, graceSeconds }),
  )
  for (const [verb, act, summary] of [
    ['disable', access.disableKey, 'Refuse an API key until it is enabled again'],
    ['enable', access.enableKey, 'Accept a disabled API key again'],
  ] as const) {
    post(`${path}/${verb}`, { summary, answer: one(apiKey, wireKey) }, (app, caller, { keyId }) =>
      act(app, caller, keyId),
    )
  }
  get(
    `${path}/reach`,
    {
      summary: 'What an API key reaches, project by project',
      description: 'Nothing while it is disabled, expired or revoked.',
      query: pageOnly,
      answer: page(reach, wireReach),
    },
    access.reachOfKey,
  )
}

/** From where a key is used. */
export function serveKeyAddresses(http: Http, app: App): void {
  operations(http, app, 'keys').get(
    `${path}/addresses`,
    {
      summary: 'From where an API key was used lately, the last first',
      description: 'At most ten, for as long as single calls are kept. Visitors with a browser token are not noted.',
      answer: shortList(keyAddress),
    },
    (app, caller, { keyId }) => access.addressesOfKey(app, caller, keyId),
  )
}

export function servePlans(http: Http, app: App): void {
  operations(http, app, 'keys').get(
    '/v1/plans',
    { summary: 'The plans an API key can have', answer: shortList(plan) },
    (app, caller) => {
      const grantable = new Set(access.grantablePlans(app.config, caller).map(({ name }) => name))
      return app.config.plans.map(({ name, rate, perDay }) => ({
        name,
        perMinute: rate?.perMinute ?? null,
        burst: rate?.burst ?? null,
        perDay,
        default: name === app.config.defaultPlan,
        grantable: grantable.has(name),
      }))
    },
  )
}
