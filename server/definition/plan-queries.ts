import {
  definedEvaluation as evaluationSchema,
  definedQuery as querySchema,
  type DefinedAlert,
  type DefinedEvaluation,
  type DefinedQuery,
} from '../../api/definition.ts'
import type { SlotsSchema } from '../../api/slots.ts'
import { fromWire } from '../../api/wire-codec.ts'
import { Failure, invalidField } from '../failure.ts'
import { changeQuery, createQuery, deleteQuery, inspectQuery, type Query } from '../queries/index.ts'
import { createCase, deleteCase, updateCase, type EvaluationCase } from '../questions/index.ts'
import { createAlert, deleteAlert, knownChannels, updateAlert } from '../usage/index.ts'
import { knownWords } from './known-words.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import { alertFields, definedAlert, definedEvaluation, definedQuery, type AuthoredAlert } from './state.ts'
import type { Doing, Step } from './steps.ts'

/** Tables that will be there and have no data yet: what reads them cannot be looked at. */
export type Unloaded = ReadonlySet<string>

export function planQuery(known: Query | undefined, given: DefinedQuery, unloaded: Unloaded): Step {
  const { deployed: _deployed, ...written } = given
  if (known === undefined) {
    const entry = entryOf('query', given.name, { action: 'create', changes: changesBetween({}, written) })
    return {
      entry,
      apply: (doing) =>
        examinedOrNot(doing, { given, unloaded, entry }, async (unexamined) => {
          const { app, caller, projectId } = doing
          const { slots, ...content } = contentOf(given)
          await createQuery(app, caller, { projectId, name: given.name, ...content, slots, unexamined })
        }),
    }
  }
  const { deployed: _live, ...before } = definedQuery(known)
  // Slots that nothing is said of stay as long as the SQL that they were made for does.
  const slots = given.slots ?? (given.sql === known.sql ? known.slots : undefined)
  const entry = comparedEntry('query', given.name, queryChanges(before, { ...written, slots }))
  if (entry.action === 'unchanged') return { entry, apply: null }
  return {
    entry,
    apply: (doing) =>
      examinedOrNot(doing, { given: { ...given, slots }, unloaded, entry }, async (unexamined) => {
        const { app, caller, projectId } = doing
        const content = contentOf(given)
        const found =
          unexamined?.slots ?? slots ?? (await inspectQuery(app, caller, { projectId, sql: given.sql })).slots
        const changes = { ...content, slots: found }
        await changeQuery(app, caller, { projectId, name: given.name, revision: known.revision, changes, unexamined })
      }),
  }
}

/** The order of slots and examples is the order of forms. */
function queryChanges(before: object, after: object): Step['entry']['changes'] {
  const written = (value: object): Record<string, unknown> => {
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, inner as unknown]))
  }
  const [was, is] = [written(before), written(after)]
  return Object.keys(is).flatMap((field) => {
    const [left, right] = [was[field] ?? null, is[field] ?? null]
    return JSON.stringify(left) === JSON.stringify(right) ? [] : [{ field, before: left, after: right }]
  })
}

export function dropQuery(known: Query): Step {
  return {
    entry: entryOf('query', known.name, { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteQuery(app, caller, { projectId, name: known.name }),
  }
}

function contentOf(given: DefinedQuery) {
  const { name: _name, deployed: _deployed, ...content } = fromWire(querySchema, given)
  return { ...content, slots: given.slots }
}

type Examining = { given: DefinedQuery; unloaded: Unloaded; entry: Step['entry'] }

/** Saves a query as it was found to be; where a table of it has no data yet, as it is written. */
async function examinedOrNot(
  { results }: Doing,
  { given, unloaded, entry }: Examining,
  save: (unexamined: { slots: SlotsSchema } | undefined) => Promise<void>,
): Promise<void> {
  try {
    await save(undefined)
  } catch (error) {
    const waits = knownWords(`${given.sql} ${JSON.stringify(given.slots ?? {})}`, unloaded)
    if (!(error instanceof Failure) || error.code !== 'invalid_request' || waits.length === 0) throw error
    if (given.slots === undefined) throw needsSlots(waits)
    await save({ slots: given.slots })
    results.unexamined.add(given.name)
    entry.notes.push(`It reads ${waits.join(', ')}, which has no data yet: it is looked at when it is released.`)
  }
}

function needsSlots(tables: string[]): Failure {
  const message = `are required: ${tables.join(', ')} has no data yet, so that nothing tells what they are`
  return invalidField('slots', message)
}

export function planEvaluation(known: EvaluationCase | undefined, given: DefinedEvaluation): Step {
  const expected = fromWire(evaluationSchema, given)
  const { question } = expected
  if (known === undefined) {
    return {
      entry: entryOf('evaluation', question, { action: 'create', changes: changesBetween({}, given) }),
      async apply({ app, caller, projectId }) {
        await createCase(app, caller, { projectId, ...expected })
      },
    }
  }
  const entry = comparedEntry('evaluation', question, changesBetween(definedEvaluation(known), given))
  if (entry.action === 'unchanged') return { entry, apply: null }
  return {
    entry,
    async apply({ app, caller, projectId }) {
      await updateCase(app, caller, { projectId, id: known.id, ...expected })
    },
  }
}

export function dropEvaluation(known: EvaluationCase): Step {
  return {
    entry: entryOf('evaluation', known.question, { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteCase(app, caller, { projectId, id: known.id }),
  }
}

export function planAlert(known: AuthoredAlert | undefined, given: DefinedAlert): Step {
  const { name } = given
  const { channels: _channels, ...fields } = given
  const stored = known?.stored ?? []
  const channels = knownChannels(stored, given.channels)
  if (known === undefined) {
    const shown = { ...fields, channels: given.channels.map(shownGiven) }
    return {
      entry: entryOf('alert', name, { action: 'create', changes: changesBetween({}, shown) }),
      async apply({ app, caller, projectId, results }) {
        const made = await createAlert(app, caller, { ...fromWire(alertFields, given), projectId, channels })
        tellSecrets(results, made)
      },
    }
  }
  const { channels: _stored, ...before } = definedAlert(known)
  const changes = changesBetween(before, fields)
  const isUnchanged =
    channels.length === stored.length && channels.every((each, at) => 'id' in each && each.id === stored[at]?.id)
  if (!isUnchanged) {
    const after = given.channels.map(shownGiven)
    changes.push({ field: 'channels', before: definedAlert(known).channels, after })
  }
  const entry = comparedEntry('alert', name, changes)
  if (entry.action === 'unchanged') return { entry, apply: null }
  return {
    entry,
    async apply({ app, caller, projectId, results }) {
      const input = { ...fromWire(alertFields, given), projectId, alertId: known.alert.id }
      tellSecrets(results, await updateAlert(app, caller, { ...input, ...(!isUnchanged && { channels }) }))
    },
  }
}

export function dropAlert({ alert }: AuthoredAlert): Step {
  return {
    entry: entryOf('alert', alert.name, { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteAlert(app, caller, { projectId, alertId: alert.id }),
  }
}

/** The origin of an address alone, and nothing of a secret. */
function shownGiven(channel: DefinedAlert['channels'][number]): object {
  if (channel.type === 'email' || channel.type === 'shared') return channel
  const target = URL.canParse(channel.url) ? new URL(channel.url).origin : (channel.target ?? null)
  return { type: channel.type, target }
}

function tellSecrets(
  results: Doing['results'],
  { name, channels }: { name: string; channels: Array<{ target: string; secret?: string }> },
): void {
  for (const { target, secret } of channels)
    if (secret !== undefined) results.secrets.push({ alert: name, target, secret })
}
