import { Failure } from '../failure.ts'
import { addEnvironment, deleteEnvironment, orderEnvironments } from '../projects/index.ts'
import { entryOf } from './plan-entry.ts'
import type { Planned, Step } from './steps.ts'

export function planEnvironments(known: string[], given: string[] | undefined): { put: Planned[]; drop: Planned[] } {
  if (given === undefined) return { put: [], drop: [] }
  const kind = 'environment'
  const remaining = known.filter((name) => given.includes(name))
  const isMoved = given.filter((name) => known.includes(name)).some((name, at) => remaining[at] !== name)
  const put = given.map((name, at): Planned => ({
    kind,
    name,
    plan: () => {
      if (!known.includes(name)) {
        const apply: Step['apply'] = async ({ app, caller, projectId }) => {
          await addEnvironment(app, caller, { projectId, name })
          await orderEnvironments(app, caller, { projectId, names: given.slice(0, at + 1) })
        }
        return { entry: entryOf(kind, name, { action: 'create' }), apply }
      }
      if (!isMoved || remaining[0] !== name) return { entry: entryOf(kind, name, { action: 'unchanged' }), apply: null }
      const changes = [{ field: 'order', before: known, after: given }]
      return {
        entry: entryOf(kind, name, { action: 'update', changes }),
        apply: ({ app, caller, projectId }) => orderEnvironments(app, caller, { projectId, names: given }),
      }
    },
  }))
  const gone = known.filter((name) => !given.includes(name))
  const drop = gone.map((name): Planned => ({ kind, name, plan: () => dropEnvironment(name) }))
  return { put, drop }
}

/** Deleting an environment ends what answers in it: that is decided by a release, not by a line that is missing. */
function dropEnvironment(name: string): Step {
  return {
    entry: entryOf('environment', name, { action: 'delete' }),
    async apply({ app, caller, projectId }) {
      const live = app.deployments.list(projectId, name).map((each) => each.name)
      if (live.length > 0) {
        const message = `${live.slice(0, 5).join(', ')}${live.length > 5 ? ' and others are' : live.length > 1 ? ' are' : ' is'} deployed in ${name}. Undeploy what answers there first.`
        throw new Failure('conflict', { reason: 'in_use', message })
      }
      await deleteEnvironment(app, caller, { projectId, name })
    },
  }
}
