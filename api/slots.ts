import { z } from 'zod'
import { slug } from './envelope.ts'

/**
 * The slots of a query: one JSON Schema object, in a subset small enough to validate a call, to draw a form, to fill
 * from a question and to be an MCP tool's input. What is not in the subset is refused by name.
 */
const described = {
  description: z.string().max(1_000).optional(),
  'x-values-from': z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,62}\.[^\0]{1,200}$/, 'must be table.column')
    .optional()
    .meta({ description: 'Where its values come from, for questions and forms: `table.column`.' }),
}
const synonyms = z
  .record(z.string().max(200), z.array(z.string().min(1).max(200)).max(50))
  .optional()
  .meta({ description: 'Other words that people say for a value.' })
const choices = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(1_000).optional()

/** Integers beyond 2^53 travel as text in both directions. */
const integer = z.union([z.int(), z.string().regex(/^-?\d{1,39}$/, 'must be an integer')])

const textSlot = z.strictObject({
  type: z.literal('string'),
  format: z.enum(['date', 'date-time']).optional(),
  enum: choices(z.string().max(1_000)),
  pattern: z
    .string()
    .max(500)
    .optional()
    .meta({ description: 'A regular expression without look-around and back-references (RE2).' }),
  default: z.string().max(8_192).nullish(),
  'x-synonyms': synonyms,
  ...described,
})
const integerSlot = z.strictObject({
  type: z.literal('integer'),
  enum: choices(integer),
  minimum: integer.optional(),
  maximum: integer.optional(),
  default: integer.nullish(),
  ...described,
})
const numberSlot = z.strictObject({
  type: z.literal('number'),
  enum: choices(z.number()),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().nullish(),
  ...described,
})
const booleanSlot = z.strictObject({ type: z.literal('boolean'), default: z.boolean().nullish(), ...described })

const anyOfTypes = (types: string) => ({ error: `must have a type: ${types}` })
const item = z.discriminatedUnion(
  'type',
  [
    textSlot.omit({ default: true }),
    integerSlot.omit({ default: true }),
    numberSlot.omit({ default: true }),
    booleanSlot.omit({ default: true }),
  ],
  anyOfTypes('string, integer, number or boolean'),
)
const listSlot = z.strictObject({
  type: z.literal('array'),
  items: item,
  default: z.array(z.unknown()).max(1_000).nullish(),
  ...described,
})

export const slotSchema = z.discriminatedUnion(
  'type',
  [textSlot, integerSlot, numberSlot, booleanSlot, listSlot],
  anyOfTypes('string, integer, number, boolean or array'),
)

const mostSlots = 50

export const slotsSchema = z
  .strictObject({
    type: z.literal('object').default('object'),
    properties: z
      .record(slug, slotSchema)
      .refine((slots) => Object.keys(slots).length <= mostSlots, `must hold at most ${mostSlots} slots`)
      .default({}),
    required: z.array(z.string()).max(mostSlots).default([]),
    additionalProperties: z.literal(false).default(false),
    description: z.string().max(1_000).optional(),
    $schema: z.string().max(200).optional(),
  })
  .meta({ id: 'Slots', description: 'A JSON Schema object; one property for each slot.' })

export type SlotSchema = z.output<typeof slotSchema>
export type SlotsSchema = z.output<typeof slotsSchema>
