import { parseDocument } from 'yaml'
import type { CatalogEntry } from '../../api/catalog.ts'
import { definitionOf } from '../../api/catalog-definition.ts'
import { definition } from '../../api/definition.ts'
import { projectFile, type ProjectFiles } from './layout.ts'
import { literalSecrets } from './literal-secrets.ts'
import type { Path } from './problem.ts'
import { isRecord } from './references.ts'
import { newProjectFile, writeProject } from './write-project.ts'

type Adding = { name: string; entry: CatalogEntry; prefix: string; values: Readonly<Record<string, string>> }
/** Files, and the variables of the environment that hold their secrets. */
export type Added = { files: ProjectFiles; environment: string[] }

/** The files that an entry of the catalog brings. */
export function entryFiles({ name, entry, prefix, values }: Adding, written: ProjectFiles): Added {
  const made = definition.parse({ definition: 1, ...definitionOf(name, entry, { prefix, values }) })
  const { variables = [], ...rest } = made
  return withSecrets(writeProject(rest), variables, written)
}

type Imported = { table: string; config: Record<string, unknown>; pagination: unknown }

/** The file of one connection. A secret that stands in its request becomes a variable. */
export function connectionFiles({ table, config, pagination }: Imported, written: ProjectFiles): Added {
  const copy = structuredClone(config)
  const origins =
    typeof config['url'] === 'string' && URL.canParse(config['url']) ? [new URL(config['url']).origin] : []
  const secrets = literalSecrets(copy, (value) => typeof value === 'string' && value !== '').map((path) => {
    const name = `${table}_${nameOf(path)}`
    replaceAt(copy, path, `{{secret:${name}}}`)
    return { name, origins }
  })
  const connection = { table_name: table, config: copy, ...(isRecord(pagination) && { pagination }) }
  const files = writeProject(definition.parse({ definition: 1, connections: [connection] }))
  return withSecrets(files, secrets, written)
}

/** `['headers', 'X-API-Key', 'value']` → `x_api_key` */
function nameOf(path: Path): string {
  const named = path.filter((part) => typeof part === 'string' && part !== 'value')
  return (
    String(named.at(-1) ?? 'secret')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '') || 'secret'
  )
}

function replaceAt(target: unknown, path: Path, value: string): void {
  const [key = '', ...rest] = path
  const fields = target as Record<PropertyKey, unknown>
  if (rest.length === 0) fields[key] = value
  else replaceAt(fields[key], rest, value)
}

type Secret = { name: string; origins: string[] }

/** The file of the project among the files only where it changes. */
function withSecrets(files: ProjectFiles, variables: Secret[], written: ProjectFiles): Added {
  const document = parseDocument(written.get(projectFile) ?? newProjectFile({}))
  const secrets = variables.map((each) => ({ ...each, held: each.name.toUpperCase() }))
  for (const { name, origins, held } of secrets) {
    const node = document.createNode({ name, secret: true, value: `\${${held}}`, origins })
    if (document.has('variables')) document.addIn(['variables'], node)
    else document.set('variables', document.createNode([node]))
  }
  if (secrets.length > 0 || !written.has(projectFile)) files.set(projectFile, document.toString({ lineWidth: 0 }))
  else files.delete(projectFile)
  return { files, environment: secrets.map(({ held }) => held) }
}
