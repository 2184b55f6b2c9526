import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import { startRunner, type Runner } from '../harness/job-runner.ts'

let dataDir: string
let runners: Runner[] = []

beforeEach(async () => {
  dataDir = await makeDataDir()
})

afterEach(async () => {
  for (const runner of runners) await runner.end('SIGTERM')
  runners = []
  await rm(dataDir, { recursive: true, force: true })
})

function start(options: Parameters<typeof startRunner>[1]): Runner {
  const runner = startRunner(dataDir, options)
  runners.push(runner)
  return runner
}

test('a job whose process is killed finishes after the restart, once, with the next attempt', async () => {
  // Nobody could wait for the claim of the dead process to lapse: it is not waited for.
  const leaseSeconds = 600
  const first = start({ enqueue: 1, leaseSeconds })
  await first.said(({ kind }) => kind === 'began')
  await first.end('SIGKILL')
  expect(first.of('ended')).toEqual([])
  const second = start({ leaseSeconds })
  const told = await second.said(({ jobs }) => jobs?.[0]?.status === 'succeeded', 60_000)
  expect(told.jobs).toEqual([{ id: expect.any(String), status: 'succeeded', attempt: 2, error: null }])
  expect(second.of('began').map(({ attempt }) => attempt)).toEqual([2])
  expect(second.of('ended').map(({ attempt }) => attempt)).toEqual([2])
})

test('however often the process is killed, every job finishes and no run overlaps another of the same job', async () => {
  const count = 6
  const overlaps: string[] = []
  let enqueue = count
  let killed = 0
  for (let done = false; !done; enqueue = 0) {
    const runner = start({ manner: 'work', enqueue })
    await runner.said(({ kind }) => kind === 'jobs')
    if (killed < 5) {
      // At another moment each time: after so many runs began, or as soon as the jobs are there.
      const began = killed % 3
      await runner.said(() => runner.of('began').length >= began)
      await runner.end('SIGKILL')
      killed += 1
    } else {
      await runner.said(({ jobs }) => jobs?.every(({ status }) => status === 'succeeded') ?? false, 60_000)
      done = true
    }
    const running = new Set<string>()
    for (const { kind, jobId = '' } of runner.events) {
      if (kind === 'began' && running.has(jobId)) overlaps.push(jobId)
      if (kind === 'began') running.add(jobId)
      if (kind === 'ended') running.delete(jobId)
    }
  }
  const all = runners.flatMap((runner) => runner.of('ended'))
  expect(overlaps).toEqual([])
  expect(new Set(all.map(({ jobId }) => jobId)).size).toBe(count)
})
