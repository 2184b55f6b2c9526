import { z } from 'zod'
import { notBlank, slug } from './envelope.ts'
import { fixedLimits } from './limits.ts'

/**
 * The types of single values, each by the JSON Schema that says it. A type is added here; the compiler then names the
 * rows of the server, of the engine and of the web app that are missing.
 */
export const scalarSlotTypes = {
  string: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  time: { type: 'string', format: 'time' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
} as const
export type ScalarSlotType = keyof typeof scalarSlotTypes

type TextFormat = Extract<(typeof scalarSlotTypes)[ScalarSlotType], { format: string }>['format']
const textFormats = Object.values(scalarSlotTypes).flatMap((row): TextFormat[] => ('format' in row ? [row.format] : []))

/**
 * The slots of a query: one JSON Schema object, in a subset small enough to validate a call, to draw a form, to fill
 * from a question and to be an MCP tool's input. What is not in the subset is refused by name.
 */
const described = {
  title: z
    .string()
    .trim()
    .min(1)
    .max(fixedLimits.slotTitleChars.value)
    .meta(notBlank)
    .optional()
    .meta({ description: 'What people call it; without one, its name or its column says so.' }),
  description: z.string().max(fixedLimits.slotDescriptionChars.value).optional(),
  'x-values-from': z
    .string()
    // As readers of other languages know it, too: to some, `\0` is a reference to a group.
    // oxlint-disable-next-line no-control-regex
    .regex(/^[a-z][a-z0-9_]{0,62}\.[^\x00]{1,200}$/, 'must be table.column')
    .optional()
    .meta({ description: 'Where its values come from, for questions and forms: `table.column`.' }),
}
const synonyms = z
  .record(z.string().max(200), z.array(z.string().min(1).max(200)).max(fixedLimits.slotSynonyms.value))
  .optional()
  .meta({ description: 'Other words that people say for a value.' })
const choices = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1).max(fixedLimits.slotChoices.value).optional()

/** Integers beyond 2^53 travel as text in both directions. */
const integer = z.union([z.int(), z.string().regex(/^-?\d{1,39}$/, 'must be an integer')])

const textSlot = z.strictObject({
  type: z.literal('string'),
  format: z
    .enum(textFormats)
    .optional()
    .meta({ description: '`time` is a time of day, `HH:MM` or `HH:MM:SS`, without a day and without an offset.' }),
  enum: choices(z.string().max(1_000)),
  pattern: z
    .string()
    .max(fixedLimits.slotPatternChars.value)
    .optional()
    .meta({ description: 'A regular expression without look-around and back-references (RE2).' }),
  default: z.string().max(fixedLimits.slotDefaultChars.value).nullish(),
  'x-pattern': z
    .boolean()
    .optional()
    .meta({ description: 'In LIKE and ILIKE its `%` and `_` are wildcards. Without it they stand for themselves.' }),
  'x-synonyms': synonyms,
  'x-bound': z.enum(['inclusive', 'exclusive']).optional().meta({
    description:
      'Of a date or a date-time that ends or begins a period: whether its own day belongs to it. Without it, the SQL says so.',
  }),
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
    textSlot.omit({ default: true, 'x-bound': true }),
    integerSlot.omit({ default: true }),
    numberSlot.omit({ default: true }),
    booleanSlot.omit({ default: true }),
  ],
  anyOfTypes('string, integer, number or boolean'),
)
const listSlot = z.strictObject({
  type: z.literal('array'),
  items: item,
  default: z.array(z.unknown()).max(fixedLimits.slotDefaultItems.value).nullish(),
  ...described,
})

export const slotSchema = z.discriminatedUnion(
  'type',
  [textSlot, integerSlot, numberSlot, booleanSlot, listSlot],
  anyOfTypes('string, integer, number, boolean or array'),
)

const maxSlots = fixedLimits.querySlots.value

export const slotsSchema = z
  .strictObject({
    type: z.literal('object').default('object'),
    properties: z
      .record(slug, slotSchema)
      .refine((slots) => Object.keys(slots).length <= maxSlots, `must hold at most ${maxSlots} slots`)
      .meta({ maxProperties: maxSlots })
      .default({}),
    required: z.array(z.string()).max(maxSlots).default([]),
    additionalProperties: z.literal(false).default(false),
    description: z.string().max(1_000).optional(),
    $schema: z.string().max(200).optional(),
  })
  .meta({ id: 'Slots', description: 'A JSON Schema object; one property for each slot.' })

export type SlotSchema = z.output<typeof slotSchema>
export type ScalarSlotSchema = Exclude<SlotSchema, { type: 'array' }> | Extract<SlotSchema, { type: 'array' }>['items']
export type SlotsSchema = z.output<typeof slotsSchema>
