import { definedSettings as settingsSchema, type Definition, type ReadSettings } from '../../api/definition.ts'
import { fromWire } from '../../api/wire-codec.ts'
import { changeProject } from '../projects/index.ts'
import { changeQuestionSettings } from '../questions/index.ts'
import { changeReplaySettings } from '../rollout/index.ts'
import { changesBetween, comparedEntry, type PlanEntry } from './plan-entry.ts'
import { definedSettings, type AuthoredSettings } from './state.ts'
import type { Planned, Step } from './steps.ts'

type Given = NonNullable<Definition['settings']>

/** Settings are always there: they change or stay. Of those that are left out nothing is said. */
export function planSettings(known: AuthoredSettings, given: Given = {}): Planned[] {
  const { allowed_origins: origins, questions, replay } = given
  const values = fromWire(settingsSchema, given)
  const before = definedSettings(known)
  const planned = (name: keyof Given, after: object, apply: NonNullable<Step['apply']>): Planned => ({
    kind: 'settings',
    name,
    plan: () => stepOf(comparedEntry('settings', name, changesBetween(valueOf(before, name), after)), apply),
  })
  return [
    ...(origins === undefined
      ? []
      : [
          planned('allowed_origins', { origins: [...new Set(origins)] }, async ({ app, caller, projectId }) => {
            await changeProject(app, caller, { projectId, allowedOrigins: origins })
          }),
        ]),
    ...(questions === undefined
      ? []
      : [
          planned('questions', { ...before.questions, ...questions }, async ({ app, caller, projectId }) => {
            const changes = { projectId, ...known.questions, ...values.questions }
            await changeQuestionSettings(app, caller, changes)
          }),
        ]),
    ...(replay === undefined
      ? []
      : [
          planned('replay', { ...before.replay, ...replay }, async ({ app, caller, projectId }) => {
            await changeReplaySettings(app, caller, { projectId, ...known.replay, ...values.replay })
          }),
        ]),
  ]
}

function stepOf(entry: PlanEntry, apply: NonNullable<Step['apply']>): Step {
  return { entry, apply: entry.action === 'unchanged' ? null : apply }
}

function valueOf(settings: ReadSettings, name: keyof Given): object {
  return name === 'allowed_origins' ? { origins: settings.allowed_origins } : settings[name]
}
