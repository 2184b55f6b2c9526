import { z } from 'zod'

/** How much a key may do. Without `rate` as fast as it likes, without `perDay` as often. */
export type Plan = { name: string; rate: { perMinute: number; burst: number } | null; perDay: number | null }

const planShape = /^([a-z][a-z0-9_]{0,62})(?:=([1-9]\d{0,5})\/([1-9]\d{0,5})(?:\/([1-9]\d{0,8}))?)?$/
export const planTable = z
  .array(
    z
      .string()
      .regex(planShape, 'must hold plans that read name=per_minute/burst, with /per_day after it, or name alone'),
  )
  .min(1)
  .transform((entries) => entries.map(planOf))
  .refine((plans) => new Set(plans.map(({ name }) => name)).size === plans.length, 'names a plan twice')

function planOf(entry: string): Plan {
  const [, name = '', perMinute, burst, perDay] = planShape.exec(entry) ?? []
  const rate = perMinute === undefined ? null : { perMinute: Number(perMinute), burst: Number(burst) }
  return { name, rate, perDay: perDay === undefined ? null : Number(perDay) }
}
