export { readProjectMap } from './project-map.ts'
