import type { RowTest } from '../../api/row-tests.ts'
import { deleteTest, putTest } from '../row-tests/index.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import type { Step } from './steps.ts'

export function planTest(known: RowTest | undefined, given: RowTest): Step {
  const entry =
    known === undefined
      ? entryOf('test', given.name, { action: 'create', changes: changesBetween({}, given) })
      : comparedEntry('test', given.name, changesBetween(known, given))
  if (entry.action === 'unchanged') return { entry, apply: null }
  return {
    entry,
    async apply({ app, caller, projectId }) {
      await putTest(app, caller, { projectId, test: given })
    },
  }
}

export function dropTest(known: RowTest): Step {
  return {
    entry: entryOf('test', known.name, { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteTest(app, caller, { projectId, name: known.name }),
  }
}
