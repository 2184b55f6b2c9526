/** The schema of tables by their content, which no project's user may read. */
export const contentSchema = 'content'
/** Prefix of a table's name while it is made, with the time behind it. */
export const makingPrefix = 'making_'

/** Trino's user of a project. Ids have capital letters only, and Trino's names small ones. */
export function projectUser(projectId: string): string {
  return projectId.toLowerCase()
}

/** Prefix of a project's schemas. */
export function schemaPrefix(projectId: string): string {
  return `${projectUser(projectId)}_`
}

/** Whether a name is that of a schema of some project, theirs or another's: ids have 26 characters behind `prj_`. */
export function isSchemaName(name: string): boolean {
  return /^prj_[0-9a-z]{26}_/.test(name)
}
