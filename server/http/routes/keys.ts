import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import {
  apiKey,
  changeApiKey,
  createdApiKey,
  keyAddress,
  newApiKey,
  plan,
  reach,
  rotateApiKey,
} from '../../../api/keys.ts'
import * as access from '../../access/index.ts'
import type { App } from '../../app.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'
import { keyInputOf, wireKey, wireReach } from './access/key-wire.ts'

const tags = ['keys']
const ofKey = z.object({ key_id: z.string() })

// Over 70 lines: a list of routes.
export function serveKeys(http: Http, app: App): void {
  http.post(
    '/v1/api-keys',
    {
      schema: {
        tags,
        summary: 'Create an API key',
        description: 'For owners of every project that it reaches. The secret is in this answer and never again.',
        body: newApiKey,
        response: { 201: createdApiKey, ...refusals },
      },
    },
    async (request, reply) => {
      const { name, permissions, ...rest } = keyInputOf(request.body)
      const input = { ...rest, name: name ?? '', permissions: permissions ?? [] }
      const { secret, ...made } = await access.createKey(app, callerOf(request), input)
      return reply.code(201).send({ ...wireKey(made), secret })
    },
  )

  http.get(
    '/v1/api-keys',
    {
      schema: {
        tags,
        summary: 'The API keys whose every project the caller owns',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(apiKey), ...refusals },
      },
    },
    async (request) => {
      const page = await access.listKeys(app, callerOf(request), request.query)
      return { data: page.items.map(wireKey), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/api-keys/:key_id',
    { schema: { tags, summary: 'One API key', params: ofKey, response: { 200: apiKey, ...refusals } } },
    async (request) => wireKey(await access.findKey(app, callerOf(request), request.params.key_id)),
  )

  http.patch(
    '/v1/api-keys/:key_id',
    {
      schema: {
        tags,
        summary: 'Change an API key',
        description: 'What is left out stays as it is. In force on every replica within a second.',
        params: ofKey,
        body: changeApiKey,
        response: { 200: apiKey, ...refusals },
      },
    },
    async (request) => {
      const input = { ...keyInputOf(request.body), keyId: request.params.key_id }
      return wireKey(await access.updateKey(app, callerOf(request), input))
    },
  )

  http.delete(
    '/v1/api-keys/:key_id',
    {
      schema: { tags, summary: 'Revoke an API key for ever', params: ofKey, response: { 204: noContent, ...refusals } },
    },
    async (request, reply) => {
      await access.revokeKey(app, callerOf(request), request.params.key_id)
      return reply.code(204).send()
    },
  )
}

/** What is done with a key beside making, changing and revoking it. */
export function serveKeyActs(http: Http, app: App): void {
  http.post(
    '/v1/api-keys/:key_id/rotate',
    {
      schema: {
        tags,
        summary: 'Give an API key a new secret',
        description: 'The old one is good for the grace time. A secret that was in its grace already ends now.',
        params: ofKey,
        body: rotateApiKey.nullish(),
        response: { 200: createdApiKey, ...refusals },
      },
    },
    async (request) => {
      const graceSeconds = (request.body ?? rotateApiKey.parse({})).grace_seconds
      const input = { keyId: request.params.key_id, graceSeconds }
      const { secret, ...key } = await access.rotateKey(app, callerOf(request), input)
      return { ...wireKey(key), secret }
    },
  )

  for (const [verb, act, summary] of [
    ['disable', access.disableKey, 'Refuse an API key until it is enabled again'],
    ['enable', access.enableKey, 'Accept a disabled API key again'],
  ] as const) {
    http.post(
      `/v1/api-keys/:key_id/${verb}`,
      { schema: { tags, summary, params: ofKey, response: { 200: apiKey, ...refusals } } },
      async (request) => wireKey(await act(app, callerOf(request), request.params.key_id)),
    )
  }

  http.get(
    '/v1/api-keys/:key_id/reach',
    {
      schema: {
        tags,
        summary: 'What an API key reaches, project by project',
        description: 'Nothing while it is disabled, expired or revoked.',
        params: ofKey,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(reach), ...refusals },
      },
    },
    async (request) => {
      const input = { ...request.query, keyId: request.params.key_id }
      const page = await access.reachOfKey(app, callerOf(request), input)
      return { data: page.items.map(wireReach), next_cursor: page.nextCursor }
    },
  )
}

/** From where a key is used. */
export function serveKeyAddresses(http: Http, app: App): void {
  http.get(
    '/v1/api-keys/:key_id/addresses',
    {
      schema: {
        tags,
        summary: 'From where an API key was used lately, the last first',
        description: 'At most ten, for as long as single calls are kept. Visitors with a browser token are not noted.',
        params: ofKey,
        response: { 200: z.object({ data: z.array(keyAddress), next_cursor: z.null() }), ...refusals },
      },
    },
    async (request) => {
      const found = await access.addressesOfKey(app, callerOf(request), request.params.key_id)
      return { data: found.map((each) => toWire(keyAddress, each)), next_cursor: null }
    },
  )
}

export function servePlans(http: Http, app: App): void {
  const list = z.object({ data: z.array(plan), next_cursor: z.null() })
  http.get(
    '/v1/plans',
    { schema: { tags, summary: 'The plans an API key can have', response: { 200: list, ...refusals } } },
    async (request) => {
      const grantable = new Set(access.grantablePlans(app.config, callerOf(request)).map(({ name }) => name))
      const data = app.config.plans.map(({ name, rate, perDay }) => ({
        name,
        per_minute: rate?.perMinute ?? null,
        burst: rate?.burst ?? null,
        per_day: perDay,
        default: name === app.config.defaultPlan,
        grantable: grantable.has(name),
      }))
      return { data, next_cursor: null }
    },
  )
}
