import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

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
    components: {
      securitySchemes: {
        management_token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A management token: slc_mgmt_…',
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
  transformObject: jsonSchemaTransformObject,
}
