import { z } from 'zod'
import { bounds, limits, limitVariable, retiredLimits, type Limits } from './config/limits.ts'
import { settings } from './config/settings.ts'
import { closest } from './failure.ts'

export { bounds, limits, limitVariable, wireName, type Bounds, type Limits } from './config/limits.ts'
export type { Plan } from './config/plans.ts'
export { settings } from './config/settings.ts'
/** Limits of the wire contract, which no installation changes. `GET /v1/limits` reports them too. */
export { fixedLimits } from '../api/limits.ts'

export type Config = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> } & {
  limits: Limits
  /** Variables that are set and were limits once. */
  retired: string[]
}

/**
 * Reads the whole configuration or says in one line per mistake which variable is wrong. Unknown `SLUICE_*` names are
 * mistakes too: a misspelled limit that silently keeps its default is found in production.
 */
export function readConfig(environment: Record<string, string | undefined>): Config | { mistakes: string[] } {
  const mistakes: string[] = []
  const values: Record<string, unknown> = {}
  const known = new Set<string>()
  const read = (variable: string, schema: z.ZodType): unknown => {
    known.add(variable)
    const given = environment[variable]
    const parsed = schema.safeParse(given === '' ? undefined : given)
    if (parsed.success) return parsed.data
    mistakes.push(`${variable} ${parsed.error.issues.map((issue) => lowerFirst(issue.message)).join('; ')}`)
    return undefined
  }
  for (const [name, { variable, schema }] of Object.entries(settings)) values[name] = read(variable, schema)
  const limitValues = Object.entries(limits).map(([name, { fallback, least, most }]) => {
    const schema = z.coerce.number().int().min(least).max(most).default(fallback)
    return [name, read(limitVariable(name), schema)] as const
  })
  const retired = retiredLimits.filter((variable) => environment[variable] !== undefined)
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('SLUICE_') || known.has(variable) || retired.includes(variable)) continue
    const near = closest(variable, known)
    mistakes.push(`${variable} is not a setting${near === undefined ? '' : `; perhaps you meant ${near}`}`)
  }
  if (mistakes.length > 0) return { mistakes }
  const boundValues = Object.fromEntries(Object.entries(bounds).map(([name, { value }]) => [name, value]))
  const config = { ...values, limits: { ...boundValues, ...Object.fromEntries(limitValues) }, retired } as Config
  const contradictions = contradictionsOf(config)
  return contradictions.length > 0 ? { mistakes: contradictions } : config
}

/** Contradictions between settings that are each valid alone. */
function contradictionsOf(config: Config): string[] {
  const found: string[] = []
  const planNames = config.plans.map(({ name }) => name)
  if (!planNames.includes(config.defaultPlan)) {
    found.push(`SLUICE_DEFAULT_PLAN must be one of ${planNames.join(', ')}`)
  }
  if (config.ownerPlans.some((name) => !planNames.includes(name))) {
    found.push(`SLUICE_OWNER_PLANS must name plans: ${planNames.join(', ')}`)
  }
  if (config.trinoUrl !== undefined && !(config.databaseUrl && config.objectsUrl && config.trinoRulesKey)) {
    found.push('SLUICE_TRINO_URL needs SLUICE_DATABASE_URL, SLUICE_OBJECTS_URL and SLUICE_TRINO_RULES_KEY beside it')
  }
  return found
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
