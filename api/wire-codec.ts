import { z } from 'zod'

/**
 * Between values and the wire. The wire is snake_case and times are text; values are camelCase and times are `Date`s.
 * It goes by the schema and never by what a key looks like: names that people chose (in records, rows, slots and
 * configurations) are in no schema and pass as they are.
 */

export type CamelKey<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelKey<Tail>>}` : Key

/** The value that a wire value stands for, its own keys renamed. What is not given has no key. */
export type FromWire<Wire> = Wire extends readonly (infer Item)[]
  ? FromWire<Item>[]
  : Wire extends Record<string, unknown>
    ? string extends keyof Wire
      ? Wire
      : { [Key in keyof Wire as CamelKey<Key>]: FromWire<Exclude<Wire[Key], undefined>> }
    : Wire

/** The values that `toWire` accepts: as `FromWire`, and a `Date` where the wire has a text. */
export type ToWire<Wire> = Wire extends readonly (infer Item)[]
  ? readonly ToWire<Item>[]
  : Wire extends Record<string, unknown>
    ? string extends keyof Wire
      ? Wire
      : { [Key in keyof Wire as CamelKey<Key>]: ToWire<Wire[Key]> }
    : Wire extends string
      ? Wire | (string extends Wire ? Date : never)
      : Wire

/** The value that a schema of the wire stands for: its own keys renamed, times as `Date`s. */
export type Value<Schema> = Schema extends z.ZodISODateTime
  ? Date
  : Schema extends z.ZodNullable<infer Inner>
    ? Value<Inner> | null
    : Schema extends z.ZodOptional<infer Inner> | z.ZodDefault<infer Inner>
      ? Value<Inner>
      : Schema extends z.ZodArray<infer Item>
        ? Value<Item>[]
        : Schema extends z.ZodObject<infer Shape>
          ? { [Key in Exclude<keyof Shape, OptionalIn<Shape>> as CamelKey<Key>]: Value<Shape[Key]> } & {
              [Key in OptionalIn<Shape> as CamelKey<Key>]?: Value<Shape[Key]> | undefined
            }
          : Schema extends z.ZodType
            ? z.output<Schema>
            : never
type OptionalIn<Shape> = { [Key in keyof Shape]: Shape[Key] extends z.ZodOptional ? Key : never }[keyof Shape]

export function fromWire<Schema extends z.ZodType>(schema: Schema, wire: z.output<Schema>): FromWire<z.output<Schema>> {
  return planOf(schema).read(wire) as FromWire<z.output<Schema>>
}

/** Takes what the schema names; what a value has beyond it stays behind. */
export function toWire<Schema extends z.ZodType>(schema: Schema, value: ToWire<z.output<Schema>>): z.output<Schema> {
  return planOf(schema).write(value) as z.output<Schema>
}

type Plan = { read: (wire: unknown) => unknown; write: (value: unknown) => unknown }

const asIs: Plan = { read: (wire) => wire, write: textOfTime }

/** Schemas are few and never change, so each is looked through once. */
const plans = new WeakMap<z.core.$ZodType, Plan>()

function planOf(schema: z.core.$ZodType): Plan {
  const known = plans.get(schema)
  if (known !== undefined) return known
  const plan = makePlan(schema)
  plans.set(schema, plan)
  return plan
}

function makePlan(schema: z.core.$ZodType): Plan {
  if (schema instanceof z.ZodObject) return objectPlan(schema)
  if (schema instanceof z.ZodArray) {
    const item = planOf(schema.element)
    return { read: each(item.read), write: each(item.write) }
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    const inner = planOf(schema.def.innerType)
    return { read: ifThere(inner.read), write: ifThere(inner.write) }
  }
  return asIs
}

function objectPlan(schema: z.ZodObject): Plan {
  const fields = Object.entries(schema.shape).map(([key, field]) => ({
    key,
    name: fieldName(key),
    plan: planOf(field),
  }))
  return {
    read: (wire) => {
      const given = wire as Record<string, unknown>
      const value: Record<string, unknown> = {}
      for (const { key, name, plan } of fields) if (given[key] !== undefined) value[name] = plan.read(given[key])
      return value
    },
    write: (value) => {
      const given = value as Record<string, unknown>
      const wire: Record<string, unknown> = {}
      for (const { key, name, plan } of fields) if (given[name] !== undefined) wire[key] = plan.write(given[name])
      return wire
    },
  }
}

function ifThere(turn: (value: unknown) => unknown): (value: unknown) => unknown {
  return (value) => (value === null || value === undefined ? value : turn(value))
}

function each(turn: (value: unknown) => unknown): (value: unknown) => unknown {
  return (values) => (values as unknown[]).map(turn)
}

function textOfTime(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value
}

/** The name that a key of the wire has in values. */
export function fieldName(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** And back. */
export function wireName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
