import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { readsBuilds } from './builds.ts'

/** Files that read what is built come after the others: `npm test` builds while those run. */
export class BuiltLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [
      ...sorted.filter(({ moduleId }) => !readsBuilds(moduleId)),
      ...sorted.filter(({ moduleId }) => readsBuilds(moduleId)),
    ]
  }
}
