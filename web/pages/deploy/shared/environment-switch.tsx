import { Button, Menu } from '@mantine/core'
import { Check, ChevronsUpDown } from 'lucide-react'
import { Link, useLocation, useSearch } from 'wouter'
import { usualEnvironment } from '../../../browser/paths.ts'
import { useEnvironments } from '../../../client/queries.ts'
import classes from './deploy.module.css'
import type { Place } from './place.ts'

/** The same page in another environment. */
export function EnvironmentSwitch({ place: { project, environment } }: { place: Place }) {
  const [path] = useLocation()
  const search = useSearch()
  const environments = useEnvironments(project.id)
  const names = environments.data?.map(({ name }) => name) ?? [environment]
  const hrefOf = (name: string): string => {
    const asked = new URLSearchParams(search)
    asked.delete('environment')
    if (name !== usualEnvironment) asked.set('environment', name)
    return asked.size === 0 ? path : `${path}?${asked}`
  }
  return (
    <Menu
      position="bottom-end"
      width={200}
      offset={6}
      shadow="md"
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <Button
          variant="default"
          h={34}
          px="xs"
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
          aria-label={`Environment ${environment}: choose another`}
        >
          <span className={classes['environment']}>
            <span className={classes['dot']} data-usual={environment === usualEnvironment || undefined} />
            <span className={classes['clip']}>{environment}</span>
          </span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {names.map((name) => (
          <Menu.Item
            key={name}
            component={Link}
            href={hrefOf(name)}
            rightSection={name === environment ? <Check size={14} aria-label="Shown now" /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
