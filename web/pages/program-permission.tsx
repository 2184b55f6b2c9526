import { NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useProjects, useUser } from '../client/queries.ts'
import type { ProgramPermission } from '../client/wire.ts'

const roles = [
  { value: 'owner', label: 'All that I may' },
  { value: 'editor', label: 'Build and release (editor)' },
  { value: 'viewer', label: 'Only look (viewer)' },
] as const
const everywhere = ''

/** As whom, and in which project, a program may build for the person. */
export function useProgramPermission(): { permission: ProgramPermission; fields: React.ReactNode } {
  const user = useUser()
  const projects = useProjects()
  const [role, setRole] = useState<ProgramPermission['role']>('owner')
  const [projectId, setProjectId] = useState(everywhere)
  const named = (projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return {
    permission: { role, ...(projectId !== everywhere && { project_id: projectId }) },
    fields: (
      <Stack gap="md">
        <NativeSelect
          label="Project"
          value={projectId}
          data={[{ value: everywhere, label: 'All of mine' }, ...named]}
          onChange={(event) => setProjectId(event.currentTarget.value)}
        />
        <NativeSelect
          label="It may"
          value={role}
          data={[...roles]}
          onChange={(event) =>
            setRole(roles.find(({ value }) => value === event.currentTarget.value)?.value ?? 'viewer')
          }
        />
        <Text size="sm" c="dimmed">
          You are signed in as {user.name}. It gets a management token for 30 days, which never does more than you may;
          revoke it under Settings, Tokens.
        </Text>
      </Stack>
    ),
  }
}
