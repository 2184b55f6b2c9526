import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Permission } from '../../server/access/keys/permissions.ts'
import {
  resolveCall,
  withFixedParameters,
  type Address,
  type DeploymentsIndex,
} from '../../server/access/keys/resolve.ts'
import { Failure } from '../../server/failure.ts'

const reaches = (
  projectId: string,
  environments: string[] | '*' = '*',
  queries: string[] | null = null,
): Permission => ({
  projectId,
  environments,
  queries,
})

/** Deployments written as `project/environment/query`. */
function deployed(...lines: string[]): DeploymentsIndex {
  const rows = lines.map((line) => line.split('/'))
  return {
    projectsWith: (query, environment) =>
      rows.filter((row) => row[1] === environment && row[2] === query).map((row) => row[0] ?? ''),
    has: (projectId, environment, query) => lines.includes(`${projectId}/${environment}/${query}`),
  }
}

function outcome(permissions: Permission[], address: Address, deployments: DeploymentsIndex): unknown {
  try {
    const { projectId, environment } = resolveCall({ permissions }, address, deployments)
    return `${projectId}/${environment}`
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.reason ?? error.code
  }
}

describe('where a call goes', () => {
  const world = deployed(
    'a/production/top',
    'b/production/top',
    'a/staging/top',
    'a/production/one',
    'c/production/top',
  )
  const [a, b, all] = [reaches('a'), reaches('b'), reaches('*')]
  const table: Array<[string, Permission[], Address, string]> = [
    ["the key's only project and production", [a], { queryName: 'top' }, 'a/production'],
    ["the key's only environment", [reaches('a', ['staging'])], { queryName: 'top' }, 'a/staging'],
    ['the environment that the call names', [a], { queryName: 'top', environment: 'staging' }, 'a/staging'],
    ['the project that the call names', [a, b], { queryName: 'top', projectId: 'b' }, 'b/production'],
    ['the one project that has the name', [a, b], { queryName: 'one' }, 'a/production'],
    ['several projects have the name', [a, b], { queryName: 'top' }, 'ambiguous_project'],
    ['only those that the key reaches count', [a, reaches('d')], { queryName: 'top' }, 'a/production'],
    ['with every project in reach', [all], { queryName: 'top' }, 'ambiguous_project'],
    ['with every project in reach, one has it', [all], { queryName: 'one' }, 'a/production'],
    ['not deployed there', [a], { queryName: 'two' }, 'query_not_found'],
    ['not deployed in that environment', [a], { queryName: 'one', environment: 'staging' }, 'query_not_found'],
    ['deployed only beyond reach', [reaches('d'), reaches('e')], { queryName: 'top' }, 'query_not_found'],
    ['a project beyond reach', [a], { queryName: 'top', projectId: 'b' }, 'permission_denied'],
    ['a project that does not exist', [a], { queryName: 'top', projectId: 'z' }, 'permission_denied'],
    [
      'an environment beyond reach',
      [reaches('a', ['staging'])],
      { queryName: 'top', environment: 'production' },
      'permission_denied',
    ],
    [
      'several environments, none production',
      [reaches('a', ['staging', 'qa'])],
      { queryName: 'top' },
      'permission_denied',
    ],
    ['a query beyond reach', [reaches('a', '*', ['one'])], { queryName: 'top' }, 'permission_denied'],
    [
      'a query beyond reach that does not exist',
      [reaches('a', '*', ['one'])],
      { queryName: 'zzz' },
      'permission_denied',
    ],
    ['a query that is in reach elsewhere', [reaches('a', '*', ['one']), b], { queryName: 'top' }, 'b/production'],
    ['a key whose projects are deleted', [], { queryName: 'top' }, 'permission_denied'],
    ['a question', [a, b], { projectId: 'b' }, 'b/production'],
    ['a question without a project', [a, b], {}, 'ambiguous_project'],
    ['a question to a project beyond reach', [a, b], { projectId: 'c' }, 'permission_denied'],
  ]
  test.each(table)('%s', (_name, permissions, address, expected) => {
    expect(outcome(permissions, address, world)).toBe(expected)
  })

  test('409 names the projects that the key reaches, and no other', () => {
    const call = () => resolveCall({ permissions: [a, b] }, { queryName: 'top' }, world)
    expect(call).toThrow(
      expect.objectContaining({ fields: { candidates: [{ project_id: 'a' }, { project_id: 'b' }] } }),
    )
    expect(call).toThrow(/X-Sluice-Project/)
  })

  test('nothing that lies beyond the reach of a key changes what it is told', () => {
    const names = fc.constantFrom('a', 'b', 'c')
    const places = fc.tuple(names, fc.constantFrom('production', 'staging'), fc.constantFrom('top', 'one'))
    const permission = fc.record({
      projectId: names,
      environments: fc.constantFrom<Permission['environments']>('*', ['staging'], ['production']),
      queries: fc.constantFrom<Permission['queries']>(null, ['top']),
    })
    const address = fc.record({
      queryName: fc.constantFrom('top', 'one'),
      projectId: fc.option(names, { nil: undefined }),
      environment: fc.constantFrom(undefined, 'staging', 'production'),
    })
    fc.assert(
      fc.property(fc.array(permission, { maxLength: 3 }), address, fc.array(places), (permissions, call, rows) => {
        const isReached = ([projectId, environment, query]: [string, string, string]) =>
          permissions.some(
            (line) =>
              line.projectId === projectId &&
              (line.environments === '*' || line.environments.includes(environment)) &&
              (line.queries === null || line.queries.includes(query)),
          )
        const whole = new Set(rows.map((row) => row.join('/')))
        const seen = new Set(rows.filter(isReached).map((row) => row.join('/')))
        expect(outcome(permissions, call, deployed(...whole))).toBe(outcome(permissions, call, deployed(...seen)))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('fixed parameters', () => {
  const key = { fixedParameters: { tenant: 'a', year: 2026 } }

  test('are added where the query has such a slot', () => {
    expect(withFixedParameters(key, { region: 'north' }, new Set(['tenant', 'region']))).toEqual({
      region: 'north',
      tenant: 'a',
    })
  })

  test('400 for a caller who sends one of them, even with the same value', () => {
    expect(() => withFixedParameters(key, { tenant: 'a' }, new Set(['tenant']))).toThrow(
      expect.objectContaining({
        code: 'invalid_query',
        reason: 'invalid_slots',
        details: [{ field: 'tenant', message: expect.any(String) }],
      }),
    )
  })
})
