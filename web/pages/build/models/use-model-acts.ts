import { useLocation } from 'wouter'
import { call } from '../../../client/api.ts'
import { paths } from '../../../browser/paths.ts'
import { useAct } from '../../../client/queries.ts'
import { thingKeys } from '../../../client/things.ts'
import type { Project } from '../../../client/wire.ts'
import type { Model, ModelComparison, ModelContent } from '../shared/wire.ts'

export const modelKey = (projectId: string, name: string) => ['projects', projectId, 'models', name]

/** Acts on a model; `null` is one that is not there yet. */
export function useModelActs(project: Project, model: Model | null) {
  const [, navigate] = useLocation()
  const all = `/v1/projects/${project.id}/models`
  const changed = [thingKeys.sources(project.id), thingKeys.objects(project.id), thingKeys.map(project.id)]
  const refresh = [...changed, modelKey(project.id, model?.name ?? '')]
  const save = useAct(
    ({ name, ...content }: ModelContent & { name: string }) =>
      model === null
        ? call<Model>('POST', all, { body: { name, ...content } })
        : call<Model>('PUT', `${all}/${model.name}`, { body: content }),
    { refresh, say: ({ name }) => `${name} is saved. Its build has begun.` },
  )
  const compare = useAct(
    (sql: string) =>
      call<ModelComparison>('POST', `${all}/${model?.name ?? ''}/compare`, { body: { sql }, timeoutMs: 300_000 }),
    { refresh: [] },
  )
  const rebuild = useAct(() => call<undefined>('POST', `${all}/${model?.name ?? ''}/rebuild`, { body: {} }), {
    refresh,
    say: () => 'The build has begun.',
  })
  const remove = useAct(
    async () => {
      await call<undefined>('DELETE', `${all}/${model?.name ?? ''}`)
      navigate(paths.data(project.id))
    },
    { refresh: changed, say: () => `${model?.name ?? 'The model'} is deleted.` },
  )
  return { save, compare, rebuild, remove }
}
