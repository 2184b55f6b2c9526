import { useMembers } from '../../../client/queries.ts'
import type { Place } from './place.ts'

/** The actor: people by their name as members, tokens and those who left as they were recorded. */
export function Who({ place, label }: { place: Place; label: string }) {
  const members = useMembers(place.project.id)
  return members.data?.find(({ email }) => email === label)?.name ?? label
}
