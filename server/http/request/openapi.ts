import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

type Transform = NonNullable<FastifyDynamicSwaggerOptions['transformObject']>

/** The document is generated from the schemas that validate, so it cannot say anything else than the code does. */
export const openapiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: '1',
      description:
        'HTTP APIs flow in as data; questions and calls flow out as answers. Every answer that is no success is the error envelope.',
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: [
      { name: 'projects', description: 'Projects and their environments.' },
      { name: 'connections', description: 'External APIs: test, execute, and the datasources they fill.' },
      { name: 'models', description: 'Tables that are built from other tables.' },
      { name: 'data', description: 'Data objects, their rows and their lineage.' },
      { name: 'jobs', description: 'Background work: what runs, what failed, and why.' },
      { name: 'people', description: 'Sign-in, members and invitations.' },
      { name: 'keys', description: 'API keys and their plans.' },
      { name: 'calls', description: 'What an API key may call.' },
      { name: 'oauth', description: 'Assistants that a person lets in: OAuth 2.1 for `/mcp`.' },
      { name: 'access', description: 'Management tokens and the audit log.' },
      { name: 'queries', description: 'Queries: drafts, versions, deployments.' },
      { name: 'releases', description: 'A project as one document, and what is released of it as one act.' },
      { name: 'questions', description: 'What was asked, what must be answered, and trying a question out.' },
      { name: 'usage', description: 'Metrics, the log of requests, and alerts.' },
      { name: 'service', description: 'Health and limits.' },
    ],
    components: {
      securitySchemes: {
        management_token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A management token: slc_mgmt_…',
        },
        api_key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: slc_live_… or slc_test_…',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sluice_session',
          description: 'Set by a sign-in. State changes also need an Origin of this server.',
        },
      },
    },
    security: [{ management_token: [] }, { session: [] }],
  },
  transform: jsonSchemaTransform,
  transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
}

/**
 * Every named schema is written twice, as it is read and as it is answered; the document keeps those it refers to, by
 * name: they come in the order in which modules were loaded, which is not always the same.
 */
function withoutUnused(document: ReturnType<Transform>): ReturnType<Transform> {
  if (!('components' in document) || document.components?.schemas === undefined) return document
  const all = Object.entries(document.components.schemas)
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      visit(all.find(([known]) => known === name)?.[1] ?? null)
    }
  }
  visit('paths' in document ? document.paths : null)
  const usedSchemas = all.filter(([name]) => used.has(name)).toSorted(([left], [right]) => (left < right ? -1 : 1))
  const schemas = Object.fromEntries(usedSchemas)
  return { ...document, components: { ...document.components, schemas } } as ReturnType<Transform>
}
