/** The schema of tables by their content, which no project's user may read. */
export const contentSchema = 'content'
/** Prefix of a table's name while it is made, with the time behind it. */
export const makingPrefix = 'making_'

/** Trino's user of a project. Ids have capital letters only, and Trino's names small ones. */
export function projectUser(projectId: string): string {
  return projectId.toLowerCase()
}

/** Trino's user who makes the tables of a project's models: it reads what the project's user reads. */
export function modelUser(projectId: string): string {
  return `models_${projectUser(projectId)}`
}

/** The schema in which that user makes them. Nobody reads in it. */
export function modelSchema(projectId: string): string {
  return `models_${projectUser(projectId)}`
}

/** A table while a model is made, with the time until which it may be needed. */
export function modelTable(untilMs: number, id: string): string {
  return `made_${untilMs}_${id}`
}

/** Until when a table of `modelTable` may be needed; undefined for other names. */
export function neededUntil(table: string): number | undefined {
  const [, until] = /^made_(\d{1,15})_[0-9a-f]{32}$/.exec(table) ?? []
  return until === undefined ? undefined : Number(until)
}

/** Prefix of a project's schemas. */
export function schemaPrefix(projectId: string): string {
  return `${projectUser(projectId)}_`
}

/** Whether a name is that of a schema of some project, theirs or another's: ids have 26 characters behind `prj_`. */
export function isSchemaName(name: string): boolean {
  return /^(models_prj_|prj_[0-9a-z]{26}_)/.test(name)
}
