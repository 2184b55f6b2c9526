import { ActionIcon, Avatar, Menu, Text, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { Link } from 'wouter'
import { paths } from '../paths.ts'
import { useUser } from '../queries.ts'
import { useSignOut } from '../sign-out.ts'

export const schemes: ReadonlyArray<{ value: MantineColorScheme; label: string; icon: typeof Sun }> = [
  { value: 'auto', label: 'Like the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
]

export function AccountMenu() {
  const user = useUser()
  const signOut = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="bottom-end" width={240} offset={6} shadow="md">
      <Menu.Target>
        <ActionIcon variant="transparent" size={34} radius="xl" aria-label="Your account">
          <Avatar name={user.name} color="tide" size={30} aria-hidden />
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
        <Menu.Divider />
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            leftSection={<Icon size={15} aria-hidden />}
            rightSection={colorScheme === value ? '●' : undefined}
            closeMenuOnClick={false}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={15} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
