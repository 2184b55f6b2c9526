import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { z } from 'zod'
import type { project } from '../../api/projects.ts'
import { CommandFailure } from '../terminal/exit.ts'
import { projectFile, readSettings, resolveReferences, type ProjectSettings } from '../project/index.ts'
import { readStored } from '../service/credentials.ts'
import { openManage, type Manage } from '../service/manage.ts'
import { openProgress, type Progress } from '../terminal/progress.ts'
import { styleFor, type Style } from '../terminal/style.ts'

export type GlobalOptions = { url?: string; project?: string; dir?: string; json?: boolean; color?: boolean }
type Environment = Readonly<Record<string, string | undefined>>

/** The parts that a command may use: who runs it where, and how it prints. Made once for each run. */
export type Context = {
  environment: Environment
  json: boolean
  /** Where the project's files are. */
  folder: string
  /** Styles for standard output, which holds the answer. */
  style: Style
  /** Styles for standard error, which holds progress and notes. */
  noteStyle: Style
  width: number
  print: (text: string) => void
  printJson: (value: unknown) => void
  note: (text: string) => void
  progress: () => Progress
  isInteractive: boolean
  url: string
  /** As `sluice.yaml` says, or nothing where there is none. */
  settings: ProjectSettings
  manage(): Promise<Manage>
  projectId(): Promise<string>
  /** The key for calls. */
  key(): Promise<string | undefined>
}

export const defaultUrl = 'http://127.0.0.1:4400'

export async function openContext(options: GlobalOptions, variables: Environment): Promise<Context> {
  const { json = false, color = true } = options
  const folder = options.dir === undefined ? await findFolder(process.cwd()) : resolve(options.dir)
  const environment = { ...(await variablesIn(folder)), ...variables }
  const settings = await settingsIn(folder)
  const url = options.url ?? given(environment, 'SLUICE_URL') ?? settings.url ?? defaultUrl
  const style = styleFor(process.stdout, color && !json)
  const noteStyle = styleFor(process.stderr, color && !json)
  let managing: Promise<Manage> | undefined
  const manage = (): Promise<Manage> => (managing ??= openWithToken(url, settings, environment))
  return {
    environment,
    json,
    folder,
    style,
    noteStyle,
    url,
    settings,
    manage,
    width: process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
    isInteractive: process.stdin.isTTY && process.stderr.isTTY && !json,
    print: (text) => void process.stdout.write(`${text}\n`),
    printJson: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void (json || process.stderr.write(`${text}\n`)),
    progress: () => openProgress(json ? { write: () => undefined } : process.stderr, noteStyle),
    projectId: async () => {
      const named = options.project ?? given(environment, 'SLUICE_PROJECT') ?? settings.project
      return named === undefined ? onlyProject(await manage()) : named
    },
    key: async () => given(environment, 'SLUICE_API_KEY') ?? (await readStored(environment, url)).key,
  }
}

function given(environment: Environment, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}

/** The nearest folder upwards that holds a project, else this one. */
async function findFolder(start: string): Promise<string> {
  for (let folder = start; ; folder = dirname(folder)) {
    const isProject = await readFile(join(folder, projectFile)).then(
      () => true,
      () => false,
    )
    if (isProject) return folder
    if (dirname(folder) === folder) return start
  }
}

/** Variables of `.env` beside the files; the environment of whoever runs the command goes before them. */
async function variablesIn(folder: string): Promise<Environment> {
  return parseEnv(await readFile(join(folder, '.env'), 'utf8').catch(() => ''))
}

/** For the address and the project; whether the file is right in all it says is told by those who use all of it. */
async function settingsIn(folder: string): Promise<ProjectSettings> {
  return readSettings(await readFile(join(folder, projectFile), 'utf8').catch(() => ''))
}

async function openWithToken(url: string, settings: ProjectSettings, environment: Environment): Promise<Manage> {
  const named = settings.token === undefined ? undefined : resolveReferences(settings.token, environment).value
  const token =
    given(environment, 'SLUICE_TOKEN') ??
    (typeof named === 'string' && named !== '' ? named : undefined) ??
    (await readStored(environment, url)).token
  if (token === undefined) {
    throw new CommandFailure('credentials', `There is no management token for ${url}.`, {
      hint: 'Set SLUICE_TOKEN, or run `sluice login`. Tokens are made in the app under Settings, Tokens.',
    })
  }
  return openManage(url, token)
}

async function onlyProject(manage: Manage): Promise<string> {
  const projects = await manage.list<z.output<typeof project>>('/v1/projects', {}, 20)
  const [only, ...others] = projects
  if (only === undefined) {
    throw new CommandFailure('usage', 'There is no project yet.', { hint: 'Make one: sluice projects create <name>' })
  }
  if (others.length === 0) return only.id
  const lines = projects.map(({ id, name }) => `  ${id}  ${name}`)
  throw new CommandFailure('usage', 'Which project is meant?', {
    hint: ['Say it with --project, SLUICE_PROJECT or `project:` in sluice.yaml:', ...lines].join('\n'),
  })
}
