import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openTestApp, operatorToken } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'

const guide = join(import.meta.dirname, '../../docs/release-safely.md')

test('what "Release safely" shows runs as it stands, and does what it says', async () => {
  const t = await openTestApp()
  await t.app.jobs.start()
  const folder = await mkdtemp(join(tmpdir(), 'sluice-guide-'))
  try {
    const { projectId } = await openQueryProject(t)
    const address = await t.listen()
    const blocks = [...(await readFile(guide, 'utf8')).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text)
    expect(blocks).toHaveLength(7)
    const env = { PATH: process.env['PATH'], SLUICE: address, TOKEN: operatorToken, PROJECT: projectId }
    const script = `set -euo pipefail\n${blocks.join('\necho\necho "====="\n')}`
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env, timeout: 120_000 })
    const [first, look, back, next, file, replay, canary] = stdout.split('=====')
    expect(first).toContain('"status":"released"')
    expect(look).toContain('"status":"checked"')
    expect(look).toContain('column amount is gone')
    expect(back).toContain('"act":"rollback"')
    expect(back).toContain('Callers needed the amount')
    expect(next).toContain('"promoted_from":"staging"')
    expect(file).toContain('"applied":false')
    expect(file).not.toContain('"action":"update"')
    expect(replay).toContain('"recording":true')
    expect(replay).toContain('"summary":"No recorded call was run."')
    expect(canary).toContain('"status":"canary"')
    const live = await t.operator.get(`/v1/projects/${projectId}/deployments?environment=production`)
    expect(live.body.data).toMatchObject([{ name: 'orders_by_day' }, { name: 'orders_of_region', version: 2 }])
  } finally {
    await t.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 180_000)
