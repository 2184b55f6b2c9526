export { addEnvironment, deleteEnvironment, listEnvironments, type Environment } from './environments.ts'
export { createProject, deleteProject, findProject, listProjects, renameProject, type Project } from './projects.ts'
