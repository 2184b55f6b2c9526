import type { AnsweredCall, CallWatch } from '../queries/index.ts'
import type { Database } from '../store/index.ts'
import { openBehindCalls, type BehindCalls, type BehindParts } from './behind.ts'
import { openCallRecorder, type CallRecorder } from './recorder.ts'
import { openRecordingProjects } from './settings.ts'

/** Listens to answered calls: records them for later, and runs them on a release that is tried out. */
export type Rollout = {
  callWatch: CallWatch
  recorder: CallRecorder
  behindCalls: BehindCalls
  close(): Promise<void>
}

type RolloutOptions = BehindParts & { store: Pick<Database, 'db' | 'listen'> }

/** Calls of one query that a process records in a second; those beyond it are not recorded. */
const maxPerSecond = 10

export async function openRollout(options: RolloutOptions): Promise<Rollout> {
  const { store, deployments, observe } = options
  let isRecording = false
  let isComparing = false
  let isOn = false
  const update = (): void => {
    isComparing = [...deployments.trials()].some(({ replayId }) => replayId !== null)
    isOn = isRecording || isComparing
  }
  const projects = await openRecordingProjects(store, {
    observe,
    onChange: (isAny) => {
      isRecording = isAny
      update()
    },
  })
  const recorder = openCallRecorder({ ...options, maxPerSecond })
  const behindCalls = openBehindCalls(options)
  const stop = deployments.onChange(update)
  const note = (call: AnsweredCall, failed: boolean): void => {
    const { projectId, environment, version, parameters, caller, requestId } = call
    if (environment === null || !projects.has(projectId)) return
    const { queryId, number } = version
    const keyId = caller?.key.id ?? null
    recorder.note({ projectId, environment, queryId, version: number, keyId, parameters, failed, requestId })
  }
  return {
    recorder,
    behindCalls,
    callWatch: {
      get isOn() {
        return isOn
      },
      received(call) {
        if (call.environment === null) return
        if (isComparing) behindCalls.received(call)
        note(call, false)
      },
      receivedFailed: (call) => note(call, true),
    },
    async close() {
      stop()
      await projects.close()
      await behindCalls.close()
      await recorder.close()
    },
  }
}
