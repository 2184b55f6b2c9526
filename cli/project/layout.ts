import type { DefinedEvaluation } from '../../api/definition.ts'

/** The texts of a project's files by their paths, with `/` between folders. */
export type ProjectFiles = Map<string, string>

export const projectFile = 'sluice.yaml'

const patterns = [
  /^sluice\.yaml$/,
  /^apis\/[^/]+\.yaml$/,
  /^connections\/[^/]+\.yaml$/,
  /^models\/[^/]+\.sql$/,
  /^queries\/[^/]+\.sql$/,
  /^tests\/[^/]+\.yaml$/,
  /^evaluations\/[^/]+\.yaml$/,
  /^alerts\/[^/]+\.yaml$/,
]

/** Whether a path belongs to the project; everything else in the folder is left alone. */
export function isProjectFile(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path))
}

export const folders = ['apis', 'connections', 'models', 'queries', 'tests', 'evaluations', 'alerts'] as const
export type Folder = (typeof folders)[number]

/** `queries/sales.sql` → `sales` */
export function stemOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(yaml|sql)$/, '')
}

export function filesIn(files: ProjectFiles, folder: Folder): Array<[path: string, text: string]> {
  return [...files].filter(([path]) => path.startsWith(`${folder}/`)).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

export function evaluationFile(each: DefinedEvaluation): string {
  // A query cannot have this name: names begin with a letter.
  return `evaluations/${each.expected_query ?? '_refused'}.yaml`
}

/** A file name made of words that people chose; never the same for two of them. */
export function alertFile(name: string, taken: ReadonlySet<string>): string {
  const stem =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || 'alert'
  for (let count = 1; ; count += 1) {
    const path = `alerts/${stem}${count === 1 ? '' : `-${count}`}.yaml`
    if (!taken.has(path)) return path
  }
}
