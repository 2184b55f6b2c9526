import { z } from 'zod'
import { fixedLimits } from './limits.ts'

/** The one error shape of every answer that is no success. */
export const errorEnvelope = z
  .looseObject({
    error: z.string().meta({ description: 'A code of the closed table; see docs/errors.md.' }),
    message: z.string().meta({ description: 'What happened and what to do, in words.' }),
    reason: z.string().optional().meta({ description: 'Narrows the code.' }),
    details: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .max(fixedLimits.errorProblems.value)
      .optional()
      .meta({ description: 'The fields that are wrong, the first ones of them.' }),
    more: z.int().optional().meta({ description: 'How many problems there are beside those in `details`.' }),
    retry_after: z.int().optional().meta({ description: 'Seconds to wait.' }),
    request_id: z.string(),
  })
  .meta({ id: 'Error' })

export type ErrorEnvelope = z.output<typeof errorEnvelope>

/** The key of a row as hexadecimal bytes, none of them 0, which no text of the database holds. */
const cursorShape = /^(?:0[1-9a-f]|[1-9a-f][0-9a-f])+$/

/** `?limit=` and `?cursor=` of every list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(fixedLimits.pageItems.value).default(50),
  cursor: z
    .string()
    .max(1_000)
    .regex(cursorShape, 'must be the next_cursor of the page before')
    .optional()
    .meta({ description: '`next_cursor` of the page before.' }),
}

/** The same of a list whose rows are numbered: its cursor is up to nine digits, as bytes. */
export const numberedPageQuery = {
  ...pageQuery,
  cursor: z
    .string()
    .regex(/^(?:3[0-9]){1,9}$/, 'must be the next_cursor of the page before')
    .optional()
    .meta({ description: '`next_cursor` of the page before.' }),
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() })
}

export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' })

/** Names of queries, slots, tables and environments. */
export const slug = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    'must begin with a lower-case letter and hold only lower-case letters, digits and _, at most 63',
  )

/** For the document: of a text that is trimmed and must not be empty, something must be left. */
export const notBlank = { pattern: '[^\\s\\ufeff]' }

/** By which people sort what a project holds. */
export const tags = z
  .array(
    z
      .string()
      .trim()
      // Printable and without a comma, written so that every program which reads the document understands it.
      .regex(/^[!-+\--~\u00a1-\uffff][ -+\--~\u00a0-\uffff]{0,39}$/, 'must have 1 to 40 characters, and no comma'),
  )
  .max(fixedLimits.tags.value)
  .meta({ description: 'Words by which people sort and find it; callers never see them.' })

export const displayName = z.string().trim().min(1).max(fixedLimits.nameChars.value).meta(notBlank)
