import { servedRows, useObjects } from '../../../client/things.ts'
import { useObject } from './asked.ts'

/** The commonest values of the column (`table.column`) that a slot takes its values from. */
export function useOffered(projectId: string, from: string | undefined): string[] {
  const objects = useObjects(projectId, from !== undefined)
  const [table = '', ...column] = from?.split('.') ?? []
  const rows = [...servedRows(objects.data ?? []).values()].find(({ table_name: name }) => name === table)
  const described = useObject(projectId, from === undefined ? undefined : rows?.id)
  if (from === undefined) return []
  const profile = described.data?.profile?.columns.find(({ name }) => name === column.join('.'))
  return profile?.top_values.map(({ value }) => value).filter((value) => value !== '') ?? []
}
