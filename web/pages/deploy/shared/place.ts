import { useSearch } from 'wouter'
import { deployPath, usualEnvironment } from '../../../browser/paths.ts'
import type { Project } from '../../../client/wire.ts'

/** Where a page of this tab is: the project, the environment of the address, and the way to its neighbours. */
export type Place = {
  project: Project
  environment: string
  /** Whether the reader may deploy here. */
  editor: boolean
  to: (page: string) => string
}

export function usePlace(project: Project): Place {
  const asked = new URLSearchParams(useSearch()).get('environment') ?? ''
  return placeIn(project, /^[a-z][a-z0-9_]*$/.test(asked) ? asked : usualEnvironment)
}

export function placeIn(project: Project, environment: string): Place {
  return {
    project,
    environment,
    editor: project.role !== 'viewer',
    to: (page) => deployPath(project.id, page, environment),
  }
}
