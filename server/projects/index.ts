export { addEnvironment, deleteEnvironment, listEnvironments, orderEnvironments } from './environments.ts'
export { openOrigins, type Origins } from './origins.ts'
export {
  allProjectIds,
  engineOf,
  environmentsOf,
  hasEnvironment,
  holdFreeProjects,
  holdProjects,
  lockEnvironment,
  lockProject,
  openProjectDirectory,
  switchEngine,
} from './directory.ts'
export { changeProject, createProject, deleteProject, findProject, listProjects } from './projects.ts'
