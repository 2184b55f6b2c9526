import type { Dialect } from '../store/index.ts'

/** A port: which engine answers the queries of a project. `server/projects` fills it. */
export type ProjectEngines = { engineOf(projectId: string): Promise<Dialect> }
