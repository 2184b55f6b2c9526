import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Operations } from './operations.ts'

/** A tool of who builds: its input, and what it makes of operations of the API. */
export type BuildTool<Input extends z.ZodObject = z.ZodObject> = {
  name: string
  title: string
  description: string
  input: Input
  /** `reads` changes nothing, `writes` adds and can be undone, `releases` changes what callers get. */
  act: 'reads' | 'writes' | 'releases'
  run: (operations: Operations, input: z.output<Input>, signal: AbortSignal) => Promise<Record<string, unknown>>
}

export function buildTool<Input extends z.ZodObject>(tool: BuildTool<Input>): BuildTool {
  return tool
}

/** As a client lists it. */
export function describedTool({ name, title, description, input, act }: BuildTool): Tool {
  const { $schema: _schema, ...schema } = z.toJSONSchema(input, { io: 'input' })
  return {
    name,
    title,
    description,
    inputSchema: schema as Tool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: act === 'reads',
      destructiveHint: act === 'releases',
      idempotentHint: act === 'reads',
      // Other APIs are called by what loads and tries requests.
      openWorldHint: false,
    },
  }
}
