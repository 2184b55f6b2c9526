/** A port: which projects and environments there are. `server/projects`, which stands on this room, fills it. */
export type ProjectDirectory = {
  /** Newest first; `among`: of these alone. */
  list(page: {
    among: readonly string[] | null
    after?: string | undefined
    limit: number
  }): Promise<Array<{ id: string; name: string }>>
  /** Environments of each project, in the order in which they were added. */
  environmentsOf(projectIds: readonly string[]): Promise<Array<{ projectId: string; name: string }>>
}
