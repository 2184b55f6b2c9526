export { addEnvironment, deleteEnvironment, listEnvironments, type Environment } from './environments.ts'
export {
  allProjectIds,
  environmentsOf,
  hasEnvironment,
  holdFreeProjects,
  holdProjects,
  lockEnvironment,
  lockProject,
  openProjectDirectory,
} from './directory.ts'
export { createProject, deleteProject, findProject, listProjects, renameProject, type Project } from './projects.ts'
