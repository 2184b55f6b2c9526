import type { Vault } from '../access/index.ts'
import type { Config } from '../config.ts'
import type { Catalogs, QueryEngine } from '../data/index.ts'
import type { Observe } from '../observe.ts'
import type { AnsweredCall, CallWatch, Deployments } from '../queries/index.ts'
import type { Database } from '../store/index.ts'
import { openBehindCalls, type BehindCalls } from './behind.ts'
import { openCallRecorder, type CallRecorder } from './recorder.ts'
import { openRecordingProjects } from './settings.ts'

/** What hears of answered calls: to write them down for later, and to run them on a release that is tried out. */
export type Rollout = {
  callWatch: CallWatch
  recorder: CallRecorder
  behindCalls: BehindCalls
  close(): Promise<void>
}

type RolloutOptions = {
  store: Pick<Database, 'db' | 'listen'>
  vault: Vault
  engine: QueryEngine
  catalogs: Catalogs
  deployments: Deployments
  config: Config
  observe: Observe
  now: () => number
}

export async function openRollout(options: RolloutOptions): Promise<Rollout> {
  const { store, deployments, observe, config } = options
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
  const { recordedCallsPerSecond: maxPerSecond, flushTimeoutMs: closeTimeoutMs } = config.limits
  const recorder = openCallRecorder({ ...options, maxPerSecond, closeTimeoutMs })
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
      heard(call) {
        if (call.environment === null) return
        if (isComparing) behindCalls.heard(call)
        note(call, false)
      },
      heardFailed: (call) => note(call, true),
    },
    async close() {
      stop()
      await projects.close()
      await behindCalls.close()
      await recorder.close()
    },
  }
}
