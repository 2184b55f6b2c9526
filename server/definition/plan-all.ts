import type { Definition } from '../../api/definition.ts'
import { Failure, listProblems } from '../failure.ts'
import {
  dropConnection,
  dropVariable,
  keepConnection,
  planConnection,
  planVariable,
  variableName,
} from './plan-connections.ts'
import { dropApi, planApi } from './plan-apis.ts'
import type { PlanEntry } from './plan-entry.ts'
import { dropModel, modelsInOrder, planModel } from './plan-models.ts'
import { planEnvironments } from './plan-environments.ts'
import {
  dropAlert,
  dropEvaluation,
  dropQuery,
  planAlert,
  planEvaluation,
  planQuery,
  type Unloaded,
} from './plan-queries.ts'
import { dropTest, planTest } from './plan-tests.ts'
import { planSettings } from './plan-settings.ts'
import type { State } from './state.ts'
import type { Planned, Step } from './steps.ts'

type Input = {
  definition: Definition
  prune: Prune
}

/** Whether what a definition does not name is deleted; `without_data`: all but tables, which stay with their data. */
export type Prune = 'true' | 'false' | 'without_data'

/** Earlier kinds may be needed by later ones; deletion goes in the other direction. */
export async function planAll({ definition, prune }: Input, state: State, unloaded: Unloaded): Promise<Planned[]> {
  const { variables, apis, connections, models, queries, tests, evaluations, alerts } = definition
  const known = new Map(state.apis.map(({ name, configuration }) => [name, configuration]))
  const given = new Map((apis ?? []).map(({ name, config }) => [name, config]))
  const bases = {
    stored: (name: string) => known.get(name) ?? null,
    given: (name: string) => given.get(name) ?? known.get(name) ?? null,
  }
  const pairs = [
    matched('variable', state.variables, variables, {
      nameOf: variableName,
      knownName: variableName,
      put: planVariable,
      drop: dropVariable,
    }),
    matched('api', state.apis, apis, {
      nameOf: (given) => given.name,
      knownName: (known) => known.name,
      put: planApi,
      drop: dropApi,
    }),
    matched('connection', state.connections, connections, {
      nameOf: (given) => given.table_name,
      knownName: (known) => known.tableName,
      put: (known, given) => planConnection(known, given, bases),
      drop: prune === 'without_data' ? keepConnection : dropConnection,
    }),
    matched('model', state.models, await modelsInOrder(models), {
      nameOf: (given) => given.name,
      knownName: (known) => known.name,
      put: (known, given) => planModel(known, given, unloaded),
      drop: dropModel,
    }),
    matched('query', state.queries, queries, {
      nameOf: (given) => given.name,
      knownName: (known) => known.name,
      put: (known, given) => planQuery(known, given, unloaded),
      drop: dropQuery,
    }),
    matched('test', state.tests, tests, {
      nameOf: (given) => given.name,
      knownName: (known) => known.name,
      put: planTest,
      drop: dropTest,
    }),
    matched('evaluation', state.evaluations, evaluations, {
      nameOf: (given) => given.question,
      knownName: (known) => known.question,
      put: planEvaluation,
      drop: dropEvaluation,
    }),
    matched('alert', state.alerts, alerts, {
      nameOf: (given) => given.name,
      knownName: ({ alert }) => alert.name,
      put: planAlert,
      drop: dropAlert,
    }),
  ]
  const environments = planEnvironments(state.environments, definition.environments)
  const dropped = prune !== 'false' ? [environments, ...pairs].toReversed().flatMap(({ drop }) => drop) : []
  const settings = planSettings(state.settings, definition.settings)
  return [...environments.put, ...settings, ...pairs.flatMap(({ put }) => put), ...dropped]
}

type Matching<Known, Given> = {
  nameOf: (given: Given) => string
  knownName: (known: Known) => string
  put: (known: Known | undefined, given: Given) => Step
  drop: (known: Known) => Step
}

/** Things of the same name, in their order: names of alerts may come more than once. */
function matched<Known, Given>(
  kind: PlanEntry['kind'],
  known: Known[],
  given: Given[] | undefined,
  { nameOf, knownName, put, drop }: Matching<Known, Given>,
): { put: Planned[]; drop: Planned[] } {
  if (given === undefined) return { put: [], drop: [] }
  const left = Map.groupBy(known, knownName)
  return {
    put: given.map((each) => {
      const name = nameOf(each)
      const own = left.get(name)?.shift()
      return { kind, name, plan: () => put(own, each) }
    }),
    drop: [...left.values()].flat().map((each) => ({ kind, name: knownName(each), plan: () => drop(each) })),
  }
}

/** A name stands for one thing. Alerts alone may share theirs. */
export function refuseTwins(definition: Definition): void {
  const {
    variables = [],
    apis = [],
    connections = [],
    models = [],
    queries = [],
    tests = [],
    evaluations = [],
  } = definition
  const named: Record<string, string[]> = {
    variables: variables.map(variableName),
    apis: apis.map(({ name }) => name),
    connections: connections.map(({ table_name: tableName }) => tableName),
    models: models.map(({ name }) => name),
    queries: queries.map(({ name }) => name),
    tests: tests.map(({ name }) => name),
    evaluations: evaluations.map(({ question }) => question),
  }
  const details = Object.entries(named).flatMap(([field, names]) => {
    const seen = new Set<string>()
    const twins = new Set(names.filter((name) => seen.has(name) || !seen.add(name)))
    return [...twins].map((name) => ({ field, message: `name ${name} twice` }))
  })
  if (details.length === 0) return
  const message = `The definition is not as expected: ${listProblems(details)}.`
  throw new Failure('invalid_request', { reason: 'invalid_field', message, details })
}
