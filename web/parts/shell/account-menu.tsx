import { ActionIcon, Avatar, Menu, Text, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { BookOpen, LogOut, UserRound } from 'lucide-react'
import { Link } from 'wouter'
import { paths } from '../../browser/paths.ts'
import { useUser } from '../../client/queries.ts'
import { useLeave } from '../../client/sign-out.ts'

export const schemes: ReadonlyArray<{ value: MantineColorScheme; label: string }> = [
  { value: 'auto', label: 'Like the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

function asScheme(value: string): MantineColorScheme {
  return schemes.find((scheme) => scheme.value === value)?.value ?? 'auto'
}

export function AccountMenu() {
  const user = useUser()
  const leave = useLeave()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu
      position="bottom-end"
      width={240}
      offset={6}
      shadow="md"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <ActionIcon variant="transparent" size={34} radius="xl" aria-label="Your account">
          <Avatar color="tide" size={30}>
            <UserRound size={16} aria-hidden />
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text fw={600} c="var(--mantine-color-text)" truncate>
            {user.name}
          </Text>
          {user.email !== null && (
            <Text size="xs" truncate>
              {user.email}
            </Text>
          )}
        </Menu.Label>
        <Menu.Item component={Link} href={paths.account} leftSection={<UserRound size={15} aria-hidden />}>
          Account
        </Menu.Item>
        <Menu.Item component={Link} href={paths.docs()} leftSection={<BookOpen size={15} aria-hidden />}>
          Guides and API
        </Menu.Item>
        <Menu.Divider />
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(asScheme(value))}>
          {schemes.map(({ value, label }) => (
            <Menu.RadioItem key={value} value={value}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={15} aria-hidden />} onClick={leave}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
