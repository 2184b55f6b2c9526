import { z } from 'zod'
import { definedApi } from './apis.ts'
import { alertFields, definedChannel } from './alerts.ts'
import { forEach, httpConfiguration, pagination } from './connections.ts'
import { changeLoad, columnRule, onBreaking, onMismatch, tableChecks } from './datasources.ts'
import { displayName, slug } from './envelope.ts'
import { fixedLimits } from './limits.ts'
import { modelContent } from './models.ts'
import { rowTest } from './row-tests.ts'
import { change, keyThatCalled, newQuery, regression } from './queries.ts'
import { changeProject } from './projects.ts'
import { newEvaluation, questionSettings } from './questions.ts'
import { replaySettings } from './replays.ts'

/**
 * A project as one document: what people keep in files and move between projects. Everything goes by its name; ids, times
 * and states are not in it. `***` is a secret that the service keeps: put back, it stays as it is; a value in its place
 * replaces it. A field that is left out has its default, so that a file says only what is special about it; a section
 * that is left out (`alerts`, say) is left alone.
 */

const cron = z
  .string()
  .max(100)
  .nullable()
  .default(null)
  .meta({ description: 'A cron expression: when to refresh. Null for never.' })

export const definedVariable = z
  .strictObject({
    name: slug,
    environment: slug.nullable().default(null).meta({
      description:
        'Goes before one of the whole project for requests with this `environment`. Null: the whole project.',
    }),
    secret: z.boolean('must be true or false').default(false),
    value: z
      .string('is required')
      .max(fixedLimits.variableChars.value)
      .meta({ description: 'Of a secret `***`: the stored one stays.' }),
    origins: z
      .array(z.string().min(1).max(300))
      .max(20)
      .default([])
      .meta({ description: 'Where a secret may be sent: `https://api.example`. A variable has none.' }),
  })
  .meta({ id: 'DefinedVariable', description: 'What requests name as `{{var:name}}` or `{{secret:name}}`.' })

export const definedSchema = z
  .strictObject({
    columns: z.array(columnRule).max(1_000).default([]).meta({
      description: 'Columns about which the author decided something, by their key in the response.',
    }),
    on_mismatch: onMismatch.default('widen'),
    on_breaking: onBreaking.default('hold'),
    checks: tableChecks.default([]),
  })
  .meta({ id: 'DefinedSchema', description: 'The contract of a table: what its data must be before it serves.' })

export const definedConnection = z
  .strictObject({
    table_name: slug.meta({ description: 'What SQL reads, and by which the connection is known in a definition.' }),
    name: displayName.optional().meta({ description: 'What people call it; the table name when left out.' }),
    kind: z.enum(['http_api', 'file'], 'must be http_api or file').default('http_api').meta({
      description:
        'Stays as it is once the connection is there. What was sent to one of the kind `file` is not part of a definition.',
    }),
    config: httpConfiguration
      .nullable()
      .default(null)
      .meta({ description: 'The request that fetches its data. `***` keeps a stored secret, for the same address.' }),
    pagination: pagination.nullable().default(null),
    for_each: forEach.nullable().default(null).meta({ description: 'A request for each row of another table.' }),
    load: changeLoad.default({ mode: 'replace' }),
    schedule: cron,
    schedule_time_zone: z
      .string()
      .max(64)
      .default('UTC')
      .meta({ format: 'time-zone', description: 'IANA name, e.g. Europe/Berlin.' }),
    keep_versions: z.int().min(1).max(fixedLimits.keptVersions.value).default(5),
    schema: definedSchema.prefault({}),
  })
  .meta({ id: 'DefinedConnection' })

const { tags: _tags, ...contentOfModel } = modelContent
export const definedModel = z
  .strictObject({
    name: slug.meta({ description: 'What SQL reads.' }),
    ...contentOfModel,
    schema: definedSchema.prefault({}),
  })
  .meta({ id: 'DefinedModel', description: 'A table that is built from other tables.' })

/** How people sort it is no part of what it does. */
export const definedQuery = newQuery
  .omit({ tags: true })
  .extend({
    deployed: z.record(slug, z.int()).optional().meta({
      description:
        'The version that answers in each environment, for who reads. PUT passes over it: what is deployed changes by a release.',
      readOnly: true,
    }),
  })
  .meta({ id: 'DefinedQuery' })

/** Reports of callers that nobody has confirmed are no part of a definition: they wait for an editor. */
export const definedEvaluation = newEvaluation.meta({ id: 'DefinedEvaluation' })

export const definedAlert = z
  .strictObject({ ...alertFields, channels: z.array(definedChannel).max(fixedLimits.alertChannels.value).default([]) })
  .meta({ id: 'DefinedAlert' })

const { shape: questions } = questionSettings
const { shape: replay } = replaySettings

/** Each is left alone where it is left out. */
export const definedSettings = z
  .strictObject({
    allowed_origins: changeProject.shape.allowed_origins,
    questions: z
      .strictObject({
        log: questions.log.optional(),
        retention_days: questions.retention_days.optional(),
        min_confidence: questions.min_confidence.unwrap().optional(),
      })
      .optional()
      .meta({ description: 'What is kept of questions, and how sure an answer must be.' }),
    replay: z
      .strictObject({
        recording: replay.recording.optional(),
        max_calls: replay.max_calls.unwrap().optional(),
        days: replay.days.unwrap().optional(),
        redacted_slots: replay.redacted_slots.unwrap().optional(),
      })
      .optional()
      .meta({ description: 'What is recorded of calls, to run them again before a release.' }),
  })
  .meta({ id: 'DefinedSettings', description: 'Settings of the project. Owners change them.' })

export const definition = z
  .strictObject({
    definition: z.literal(1, 'must be 1, the version of this format'),
    environments: z
      .array(slug)
      .max(100)
      .refine((names) => new Set(names).size === names.length, 'name one twice')
      .optional()
      .meta({ description: 'Their names, in order. `production` is always there.', uniqueItems: true }),
    settings: definedSettings.optional(),
    variables: z.array(definedVariable).max(fixedLimits.definedObjects.value).optional(),
    apis: z.array(definedApi).max(fixedLimits.definedObjects.value).optional(),
    connections: z.array(definedConnection).max(fixedLimits.definedObjects.value).optional(),
    models: z.array(definedModel).max(fixedLimits.models.value).optional(),
    queries: z.array(definedQuery).max(fixedLimits.definedObjects.value).optional(),
    tests: z.array(rowTest).max(fixedLimits.rowTests.value).optional(),
    evaluations: z.array(definedEvaluation).max(fixedLimits.evaluationCases.value).optional(),
    alerts: z.array(definedAlert).max(fixedLimits.definedObjects.value).optional(),
  })
  .meta({ id: 'Definition' })

const asWritten = z.record(z.string(), z.unknown())

export const readSettings = z.object({
  allowed_origins: z.array(z.string()),
  questions: questionSettings,
  replay: replaySettings,
})

/** A definition as it is read: every section is there, and every field. */
export const readDefinition = z
  .object({
    definition: z.literal(1),
    environments: z.array(z.string()),
    settings: readSettings,
    variables: z.array(definedVariable),
    apis: z.array(asWritten).meta({ description: 'Each as PUT takes it: DefinedApi.' }),
    connections: z.array(asWritten).meta({ description: 'Each as PUT takes it: DefinedConnection.' }),
    models: z.array(asWritten).meta({ description: 'Each as PUT takes it: DefinedModel.' }),
    queries: z.array(definedQuery),
    tests: z.array(rowTest),
    evaluations: z.array(definedEvaluation),
    alerts: z.array(asWritten).meta({ description: 'Each as PUT takes it: DefinedAlert.' }),
  })
  .meta({ id: 'ReadDefinition' })

export type Definition = z.output<typeof definition>
/** As it is read: nothing is left out. */
export type WholeDefinition = {
  [Section in keyof Definition]-?: Section extends 'settings' ? ReadSettings : Exclude<Definition[Section], undefined>
}
export type ReadSettings = z.output<typeof readSettings>
export type DefinedSettings = z.output<typeof definedSettings>
export type DefinedVariable = z.output<typeof definedVariable>
export type DefinedConnection = z.output<typeof definedConnection>
export type DefinedModel = z.output<typeof definedModel>
export type DefinedQuery = z.output<typeof definedQuery>
export type DefinedEvaluation = z.output<typeof definedEvaluation>
export type DefinedAlert = z.output<typeof definedAlert>

const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .default(fallback)
    .transform((text) => text === 'true')

export const putDefinition = z.strictObject({
  check: flag('false').meta({ description: 'Answer the plan and change nothing.' }),
  prune: z.enum(['true', 'false', 'without_data'], 'must be true, false or without_data').default('true').meta({
    description:
      'Whether what the definition does not name is deleted. `without_data`: all of it but connections, which stay with their data.',
  }),
  environment: slug.default('production').meta({
    description: 'Where the changed queries are meant to go: the plan says what releasing them there would do.',
  }),
  force: flag('false').meta({ description: 'Apply what does not pass its tests with rows.' }),
})

/** The planned change of one thing of the project. */
export const planEntry = z
  .object({
    kind: z.enum([
      'environment',
      'settings',
      'variable',
      'api',
      'connection',
      'model',
      'query',
      'test',
      'evaluation',
      'alert',
    ]),
    name: z.string().meta({
      description:
        'Of settings which of them, of a connection its table name, of an evaluation its question, of a variable of an environment `environment/name`.',
    }),
    action: z.enum(['create', 'update', 'delete', 'unchanged']),
    changes: z
      .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }))
      .meta({ description: 'What differs, by field; null where it is not there. Secrets read `***`.' }),
    notes: z.array(z.string()).meta({ description: 'What else is to be known before it is applied.' }),
    release: z
      .object({
        environment: z.string(),
        version: z.int().nullable().meta({ description: 'The version that answers there now.' }),
        compatibility: z.enum(['first', 'compatible', 'additive', 'breaking']),
        changes: z.array(change),
        callers: z.array(keyThatCalled),
      })
      .nullable()
      .meta({ description: 'Of a query that changes: what releasing it to the environment asked for would mean.' }),
    readers: z
      .array(z.object({ environment: z.string(), query: z.string() }))
      .default([])
      .meta({
        description:
          'Of a connection or model that changes or goes: deployed queries that read its table, or models made of it, in every environment. All environments read the same tables.',
      }),
    failed_checks: z
      .array(z.object({ type: z.string(), message: z.string() }))
      .meta({ description: 'Of a connection: checks that the data that serves now does not pass.' }),
    refused: z
      .object({ error: z.string(), reason: z.string().nullable(), message: z.string() })
      .nullable()
      .meta({ description: 'Why it cannot be applied. Then nothing of the definition is.' }),
  })
  .meta({ id: 'PlanEntry' })

export const definitionPlan = z
  .object({
    plan: z.array(planEntry),
    applied: z.boolean(),
    routing: z
      .object({ environment: z.string(), checked: z.int(), regressions: z.array(regression) })
      .nullable()
      .meta({ description: 'Stored questions that releasing the changed queries would move. Null without any.' }),
    jobs: z
      .array(z.object({ id: z.string(), table_name: z.string() }))
      .meta({ description: 'First loads of new connections: they go on after the answer.' }),
    secrets: z
      .array(z.object({ alert: z.string(), target: z.string(), secret: z.string() }))
      .meta({ description: 'Secrets of webhooks that were made because none was given. Shown only here.' }),
  })
  .meta({ id: 'DefinitionPlan' })
