import { z } from 'zod'

export const limitEntry = z
  .object({
    name: z.string().meta({ description: 'The unit is the last word.' }),
    value: z.number(),
    default: z.number(),
    variable: z
      .string()
      .nullable()
      .meta({ description: 'Environment variable that sets it; null for what is the same in every installation.' }),
    description: z.string(),
  })
  .meta({ id: 'Limit' })

export const limitsAnswer = z.object({
  limits: z.record(z.string(), z.number()).meta({ description: 'Every limit by name, as in force here.' }),
  data: z.array(limitEntry),
})

const check = z.object({
  ok: z.boolean(),
  optional: z.literal(true).optional().meta({ description: 'Calls are served without it, though less well.' }),
  message: z.string().optional(),
})
export const readiness = z.object({ ready: z.boolean(), checks: z.record(z.string(), check) })
export const liveness = z.object({ status: z.literal('ok') })
