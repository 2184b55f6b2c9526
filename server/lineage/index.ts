export { readProjectMap, type ProjectMap } from './project-map.ts'
