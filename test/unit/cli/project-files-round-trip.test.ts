import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Definition } from '../../../api/definition.ts'
import { writeProject } from '../../../cli/project/index.ts'
import { definitions } from './random-definitions.ts'
import { readBack } from './read-back.ts'
import { rounds } from '../../harness/rounds.ts'

/** Files have no order. */
function inOrder(all: Definition): Definition {
  const by = <Item>(items: Item[] | undefined, key: (item: Item) => string): Item[] =>
    (items ?? []).toSorted((left, right) => (key(left) < key(right) ? -1 : 1))
  return {
    ...all,
    // None is not worth a line.
    variables: all.variables ?? [],
    settings: {
      allowed_origins: [],
      replay: { recording: false, max_calls: 1_000, days: 7, redacted_slots: [] },
      ...all.settings,
    },
    apis: by(all.apis, ({ name }) => name),
    // One without a name is called like its table.
    connections: by(
      all.connections?.map((each) => ({ ...each, name: each.name ?? each.table_name })),
      (each) => each.table_name,
    ),
    models: by(all.models, ({ name }) => name),
    queries: by(all.queries, ({ name }) => name),
    tests: by(all.tests, ({ name }) => name),
    evaluations: by(all.evaluations, ({ question }) => question),
    alerts: by(all.alerts, ({ name }) => name),
  }
}

describe('a definition as files', () => {
  test('is the same when it is read back, whatever it says', () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        expect(inOrder(readBack(writeProject(definition)))).toEqual(inOrder(definition))
      }),
      { numRuns: rounds(40, 200) },
    )
  })

  test('written over files that say the same, changes none of them', () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const files = writeProject(definition)
        expect([...writeProject(definition, files)]).toEqual([...files])
      }),
      { numRuns: rounds(12, 60) },
    )
  })

  test('written over the files of another, is read back as itself', () => {
    fc.assert(
      fc.property(definitions, definitions, (before, after) => {
        expect(inOrder(readBack(writeProject(after, writeProject(before))))).toEqual(inOrder(after))
      }),
      { numRuns: rounds(20, 100) },
    )
  })
})
