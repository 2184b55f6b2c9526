import { Select } from '@mantine/core'
import { useState } from 'react'
import { usualEnvironment } from '../../../browser/paths.ts'
import { useEnvironments } from '../../../client/queries.ts'
import type { Project } from '../../../client/wire.ts'
import { DeploySheet } from '../../deploy/endpoints/deploy-sheet.tsx'

type Props = { project: Project; name: string; onClose: () => void }

/** Deploys the draft from where it is written: here no environment is looked at, so it is chosen on the sheet. */
export function DeployDraft({ project, name, onClose }: Props) {
  const [environment, setEnvironment] = useState(usualEnvironment)
  const environments = useEnvironments(project.id)
  return (
    <DeploySheet
      projectId={project.id}
      name={name}
      move={{ kind: 'deploy', environment }}
      choice={
        <Select
          label="Environment"
          data={environments.data?.map((each) => each.name) ?? [environment]}
          value={environment}
          onChange={(next) => setEnvironment(next ?? usualEnvironment)}
        />
      }
      onClose={onClose}
    />
  )
}
