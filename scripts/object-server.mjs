// versitygw, a real S3 server over a folder, made of its sources (once, in a minute) and kept between runs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = 'v1.8.0'

/** The program; undefined where there is no Go to make it with. */
export function findObjectServer() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'sluice-objects', version)
  const binary = join(folder, 'versitygw')
  if (existsSync(binary)) return binary
  mkdirSync(folder, { recursive: true })
  console.log(`Making versitygw ${version} (once) in ${folder} …`)
  const args = ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`]
  const { status } = spawnSync('go', args, { stdio: 'inherit', env: { ...process.env, GOBIN: folder } })
  return status === 0 ? binary : undefined
}
