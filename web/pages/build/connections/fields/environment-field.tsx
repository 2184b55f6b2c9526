import { Anchor, Code, Select } from '@mantine/core'
import { Link } from 'wouter'
import { paths } from '../../../../browser/paths.ts'
import { useEnvironments, useVariables } from '../../../../client/queries.ts'
import type { Project } from '../../../../client/wire.ts'
import type { Draft } from './draft.ts'

type Props = { project: Project; draft: Draft; onChange: (part: Partial<Draft>) => void; disabled: boolean }

/** Whose values go before those of the project. Nothing where there are none to choose from. */
export function EnvironmentField({ project, draft, onChange, disabled }: Props) {
  const environments = useEnvironments(project.id)
  const variables = useVariables(project.id)
  if (draft.environment === undefined && (variables.data ?? []).length === 0) return null
  const names = (environments.data ?? []).map(({ name }) => name)
  return (
    <Select
      mt="lg"
      maw="26rem"
      label="Variables of"
      description={
        <>
          <Code>{'{{var:name}}'}</Code> and <Code>{'{{secret:name}}'}</Code> stand for{' '}
          <Anchor component={Link} inherit href={paths.settings(project.id, 'variables')}>
            values of the project
          </Anchor>
          ; those of an environment go before them.
        </>
      }
      data={[{ value: '', label: 'the project' }, ...names.map((name) => ({ value: name, label: name }))]}
      value={draft.environment ?? ''}
      allowDeselect={false}
      disabled={disabled}
      onChange={(name) => onChange({ environment: name === null || name === '' ? undefined : name })}
    />
  )
}
