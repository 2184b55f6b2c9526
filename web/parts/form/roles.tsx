import { Badge, Radio, Stack } from '@mantine/core'
import type { Role } from '../../client/wire.ts'

const roles = ['viewer', 'editor', 'owner'] as const satisfies readonly Role[]

const may: Record<Role, string> = {
  viewer: 'Reads everything in the project and changes nothing.',
  editor: 'Also builds queries and deploys them.',
  owner: 'Also manages members, tokens, environments and the project itself.',
}

const names: Record<Role, string> = { viewer: 'Viewer', editor: 'Editor', owner: 'Owner' }

export const roleOptions = roles.map((value) => ({ value, label: names[value] }))

export function roleName(role: Role): string {
  return names[role]
}

export function asRole(value: string | null): Role | undefined {
  return roles.find((role) => role === value)
}

/** `an editor`, `a viewer`: as it stands in a sentence. */
export function aRole(role: Role): string {
  return role === 'viewer' ? 'a viewer' : `an ${role}`
}

export function RoleBadge({ role }: { role: Role }) {
  return (
    <Badge variant="default" radius="sm" tt="none" fw={500}>
      {names[role]}
    </Badge>
  )
}

/** A role with what it may do. Roles above `most` cannot be chosen and say why. */
export function RoleChoice({
  label,
  value,
  onChange,
  most = 'owner',
}: {
  label: string
  value: Role
  onChange: (role: Role) => void
  most?: Role
}) {
  return (
    <Radio.Group label={label} value={value} onChange={(next) => onChange(asRole(next) ?? value)}>
      <Stack gap="xs" mt={6}>
        {roles.map((role) => {
          const beyond = roles.indexOf(role) > roles.indexOf(most)
          return (
            <Radio
              key={role}
              value={role}
              label={names[role]}
              description={beyond ? `You are ${aRole(most)} here and cannot give more than that.` : may[role]}
              disabled={beyond}
            />
          )
        })}
      </Stack>
    </Radio.Group>
  )
}
