import { z } from 'zod'
import { timestamp } from './envelope.ts'

/** Connecting to an external API in a person's name: OAuth2 with an authorization code. */

export const authorization = z
  .object({
    redirect_uri: z.string().meta({ description: 'To be registered at the authorization server.' }),
    status: z.enum(['none', 'connected', 'outdated', 'refused']).meta({
      description:
        '`outdated`: its addresses or its client are others than those it was connected for. `refused`: the server gives no ' +
        'further tokens.',
    }),
    connected_at: timestamp.nullable(),
    connected_by: z.string().nullable(),
    expires_at: timestamp.nullable().meta({ description: 'Of the access token, where the server said so.' }),
    renews: z.boolean().meta({ description: 'Whether there is a refresh token, so that it goes on after that.' }),
    refusal: z.string().nullable(),
  })
  .meta({ id: 'Authorization' })

export const begunAuthorization = z.object({
  authorization_url: z.string().meta({ description: 'Where the browser goes to agree.' }),
  redirect_uri: z.string(),
  expires_at: timestamp,
})

/** The parameters that the authorization server sent the browser back with. */
export const returnedAuthorization = z.strictObject({
  server: z.string().min(1).max(100).meta({ description: 'The last part of the path that the browser came back to.' }),
  state: z.string().min(1).max(200),
  code: z.string().min(1).max(8_000).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2_000).optional(),
})
export const finishedAuthorization = z.object({ project_id: z.string(), datasource_id: z.string() })
