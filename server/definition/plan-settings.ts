import type { Definition, ReadSettings } from '../../api/definition.ts'
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
            const { log, retention_days: retentionDays, min_confidence: minConfidence } = questions
            await changeQuestionSettings(app, caller, {
              ...known.questions,
              projectId,
              ...(log !== undefined && { log }),
              ...(retentionDays !== undefined && { retentionDays }),
              ...(minConfidence !== undefined && { minConfidence }),
            })
          }),
        ]),
    ...(replay === undefined
      ? []
      : [
          planned('replay', { ...before.replay, ...replay }, async ({ app, caller, projectId }) => {
            const { recording, max_calls: maxCalls, days, redacted_slots: redactedSlots } = replay
            await changeReplaySettings(app, caller, {
              ...known.replay,
              projectId,
              ...(recording !== undefined && { recording }),
              ...(maxCalls !== undefined && { maxCalls }),
              ...(days !== undefined && { days }),
              ...(redactedSlots !== undefined && { redactedSlots }),
            })
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
