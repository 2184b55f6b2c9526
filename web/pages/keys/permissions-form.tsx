import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import { useEnvironments, useProjects, useUser } from '../../client/queries.ts'
import type { Project } from '../../client/wire.ts'
import classes from './keys.module.css'
import { everyProject, type Granted } from './granted.ts'
import { useQueriesOf } from '../../client/things.ts'

type Props = { granted: Granted; onChange: (granted: Granted) => void }

/**
 * Projects, in each its environments and its queries. Only one's own projects: no one can give what is not theirs.
 * Every project, those to come included, is for administrators to give.
 */
export function PermissionsForm({ granted, onChange }: Props) {
  const projects = useProjects()
  const user = useUser()
  const own = (projects.data ?? []).filter(({ role }) => role === 'owner')
  const everywhere = granted[everyProject]
  return (
    <Stack gap="xs">
      <Text fw={600}>It reaches</Text>
      {(user.administrator || everywhere !== undefined) && (
        <div className={classes['project']}>
          <Checkbox
            label="Every project, now and later"
            checked={everywhere !== undefined}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? { [everyProject]: { environments: null, queries: null } } : {})
            }
          />
        </div>
      )}
      {everywhere === undefined &&
        own.map((project) => {
          const given = granted[project.id]
          return (
            <div key={project.id} className={classes['project']}>
              <Checkbox
                label={project.name}
                checked={given !== undefined}
                onChange={(event) => {
                  const { [project.id]: _gone, ...rest } = granted
                  onChange(
                    event.currentTarget.checked
                      ? { ...granted, [project.id]: { environments: ['production'], queries: null } }
                      : rest,
                  )
                }}
              />
              {given !== undefined && (
                <ProjectPermissions
                  project={project}
                  given={given}
                  onChange={(changed) => onChange({ ...granted, [project.id]: changed })}
                />
              )}
            </div>
          )
        })}
    </Stack>
  )
}

type Given = Granted[string]

function ProjectPermissions({
  project,
  given,
  onChange,
}: {
  project: Project
  given: Given
  onChange: (given: Given) => void
}) {
  const environments = useEnvironments(project.id)
  const queries = useQueriesOf(project.id)
  return (
    <Stack gap="md" pl="xl" pt="sm">
      <Choice
        legend={`Environments of ${project.name}`}
        all="All, now and later"
        some="Only these"
        names={environments.data?.map(({ name }) => name) ?? []}
        first={['production']}
        chosen={given.environments}
        onChange={(chosen) => onChange({ ...given, environments: chosen })}
      />
      <Choice
        legend={`Queries of ${project.name}`}
        all="All that are deployed there, now and later"
        some="Only these"
        names={queries.data?.map(({ name }) => name) ?? []}
        first={[]}
        chosen={given.queries}
        onChange={(chosen) => onChange({ ...given, queries: chosen })}
      />
    </Stack>
  )
}

type ChoiceProps = {
  legend: string
  all: string
  some: string
  names: string[]
  /** The ticks to begin with. */
  first: string[]
  chosen: string[] | null
  onChange: (chosen: string[] | null) => void
}

function Choice({ legend, all, some, names, first, chosen, onChange }: ChoiceProps) {
  return (
    <Radio.Group
      label={legend}
      labelProps={{ className: classes['legend'] }}
      value={chosen === null ? 'all' : 'some'}
      onChange={(value) => onChange(value === 'all' ? null : first)}
    >
      <Stack gap={6}>
        <Radio value="some" label={some} disabled={names.length === 0} />
        {chosen !== null && (
          <div className={classes['names']}>
            {names.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={chosen.includes(name)}
                onChange={(event) =>
                  onChange(event.currentTarget.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
                }
              />
            ))}
          </div>
        )}
        <Radio value="all" label={all} />
      </Stack>
    </Radio.Group>
  )
}
