import { isDeepStrictEqual } from 'node:util'
import type { DefinedApi } from '../../api/apis.ts'
import {
  createApi,
  deleteApi,
  hidden,
  maskConfiguration,
  restoreConfiguration,
  updateApi,
  type SharedApi,
} from '../connections/index.ts'
import { changesBetween, comparedEntry, entryOf } from './plan-entry.ts'
import { definedApi } from './state.ts'
import type { Step } from './steps.ts'

export function planApi(known: SharedApi | undefined, given: DefinedApi): Step {
  const { name, rate, tries } = given
  // With its secrets: those that read `***` are the stored ones, for the same address.
  const { method: _, ...config } = restoreConfiguration({ ...given.config, method: 'GET' }, known?.configuration)
  const shown = definedApi({ ...given, configuration: maskConfiguration({ ...config, method: 'GET' }) })
  if (known === undefined) {
    return {
      entry: entryOf('api', name, { action: 'create', changes: changesBetween({}, shown) }),
      async apply({ app, caller, projectId }) {
        await createApi(app, caller, { projectId, name, config, rate, tries })
      },
    }
  }
  const before = definedApi(known)
  const changes = changesBetween(before, shown)
  const isOtherSecret = changes.length === 0 && !isDeepStrictEqual(plain(config), plain(known.configuration))
  if (isOtherSecret) changes.push({ field: 'config', before: hidden, after: hidden })
  const entry = comparedEntry('api', name, changes)
  if (changes.length === 0) return { entry, apply: null }
  if (isOtherSecret) entry.notes.push('A secret of it changes.')
  return {
    entry,
    async apply({ app, caller, projectId }) {
      await updateApi(app, caller, { projectId, apiId: known.id, config, rate, tries })
    },
  }
}

/** Without the fields that are not given, and the method that a base address has none of. */
function plain({ method: _method, ...config }: Partial<SharedApi['configuration']>): unknown {
  return JSON.parse(JSON.stringify(config))
}

export function dropApi(known: SharedApi): Step {
  return {
    entry: entryOf('api', known.name, { action: 'delete' }),
    apply: ({ app, caller, projectId }) => deleteApi(app, caller, { projectId, apiId: known.id }),
  }
}
