import { parseDocument } from 'yaml'
import type { CatalogEntry } from '../../api/catalog.ts'
import { definitionOf } from '../../api/catalog-definition.ts'
import { definition } from '../../api/definition.ts'
import { projectFile, type ProjectFiles } from './layout.ts'
import { newProjectFile, writeProject } from './write-project.ts'

type Adding = { name: string; entry: CatalogEntry; prefix: string; values: Readonly<Record<string, string>> }

/** The files that an entry of the catalog brings, and the variables of the environment that hold its secrets. */
export function entryFiles(
  { name, entry, prefix, values }: Adding,
  written: ProjectFiles,
): { files: ProjectFiles; environment: string[] } {
  const made = definition.parse({ definition: 1, ...definitionOf(name, entry, { prefix, values }) })
  const { variables = [], ...rest } = made
  const files = writeProject(rest)
  const document = parseDocument(written.get(projectFile) ?? newProjectFile({}))
  const secrets = variables.map((each) => ({ ...each, held: each.name.toUpperCase() }))
  for (const { name: variable, origins, held } of secrets) {
    const node = document.createNode({ name: variable, secret: true, value: `\${${held}}`, origins })
    if (document.has('variables')) document.addIn(['variables'], node)
    else document.set('variables', document.createNode([node]))
  }
  if (secrets.length > 0 || !written.has(projectFile)) files.set(projectFile, document.toString({ lineWidth: 0 }))
  else files.delete(projectFile)
  return { files, environment: secrets.map(({ held }) => held) }
}
