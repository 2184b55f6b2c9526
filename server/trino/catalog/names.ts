/** The schema of tables by their content, which no project's user may read. */
export const contentSchema = 'content'
/** What a table in it is called while it is made, with the time behind it. */
export const makingPrefix = 'making_'

/** Trino's user of a project. Ids have capital letters only, and Trino's names small ones. */
export function projectUser(projectId: string): string {
  return projectId.toLowerCase()
}

/** What the schemas of a project begin with. */
export function schemaPrefix(projectId: string): string {
  return `${projectUser(projectId)}_`
}
