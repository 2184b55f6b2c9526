import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type * as rowTests from '../../../../api/row-tests.ts'
import { call } from '../../../client/api.ts'
import { useAct } from '../../../client/queries.ts'
import type { Project } from '../../../client/wire.ts'

export type RowTest = z.output<typeof rowTests.rowTest>
export type TestResult = z.output<typeof rowTests.testResult>
type Results = z.output<typeof rowTests.testResults>

/** A query or model as it stands in its editor, saved or not. */
export type Tested =
  | { kind: 'query'; name: string; sql: string; slots: NonNullable<Sent['queries']>[number]['slots'] }
  | { kind: 'model'; name: string; sql: string }
type Sent = z.input<typeof rowTests.runTests>

/** The tests with rows of a query or model, and the results of those that were run here, until its text changes. */
export function useRowTests(project: Project, tested: Tested) {
  const all = `/v1/projects/${project.id}/tests`
  const { kind, name } = tested
  const key = testsKey(project, kind, name)
  const tests = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => call<{ data: RowTest[] }>('GET', `${all}?${kind}=${name}`, { signal }),
    select: ({ data }) => data,
  })
  const [ran, setRan] = useState<{ of: string; results: TestResult[] } | null>(null)
  const text = JSON.stringify(tested)
  const run = useAct(
    async (names: string[]) => {
      const { kind: _kind, ...statement } = tested
      const sent: Sent = { names, ...(kind === 'query' ? { queries: [statement] } : { models: [statement] }) }
      const found = await call<Results>('POST', `${all}/run`, { body: sent, timeoutMs: 300_000 })
      const others = ran?.of === text ? ran.results.filter((each) => !names.includes(each.name)) : []
      setRan({ of: text, results: [...others, ...found.results] })
    },
    { refresh: [] },
  )
  const fromCall = useAct(
    () => call<RowTest>('POST', `${all}/from-call`, { body: { query: name }, timeoutMs: 120_000 }),
    { refresh: [key], say: (made) => `The test ${made.name} is made. Look through its rows before you share them.` },
  )
  const results = new Map((ran?.of === text ? ran.results : []).map((each) => [each.name, each]))
  return { tests, results, run, fromCall }
}

export function useDeleteTest(project: Project, { name, query, model }: RowTest) {
  return useAct(() => call<undefined>('DELETE', `/v1/projects/${project.id}/tests/${name}`), {
    refresh: [query === undefined ? testsKey(project, 'model', model ?? '') : testsKey(project, 'query', query)],
    say: () => `The test ${name} is deleted.`,
  })
}

const testsKey = (project: Project, kind: Tested['kind'], name: string) => ['projects', project.id, 'tests', kind, name]
