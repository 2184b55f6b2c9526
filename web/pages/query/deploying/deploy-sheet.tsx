import { Button, Checkbox, Group, List, Modal, Select, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { Loaded } from '../../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../../parts/text/refusal.tsx'
import { usualEnvironment } from '../../../browser/paths.ts'
import { useEnvironments } from '../../../client/queries.ts'
import { Verdict } from '../../../parts/text/verdict.tsx'
import { Callers } from './callers.tsx'
import { Diff } from './diff.tsx'
import { MovedQuestions } from '../../deploy/shared/moved-questions.tsx'
import { useMove, useReport, type Move } from './moves.ts'
import { useDiff } from '../../deploy/shared/queries.ts'
import { sayChange, sayCompatibility, sayRouting } from '../../deploy/shared/words.ts'
import type { DeployReport } from '../../deploy/shared/wire.ts'

type Props = { projectId: string; name: string; move: Move; onClose: () => void }

/** Shows what a move would change and for whom, and makes it only then. */
export function DeploySheet({ projectId, name, move: asked, onClose }: Props) {
  const [environment, setEnvironment] = useState(asked.environment)
  const environments = useEnvironments(projectId)
  // A draft may go anywhere; what is promoted, rolled back or of a version was chosen with its environment.
  const isOpen = asked.kind === 'deploy' && asked.version === undefined
  const move: Move = isOpen ? { ...asked, environment } : asked
  const titles = {
    deploy: `Deploy ${name} to ${move.environment}`,
    promote: `${verbOf(move)} ${name} to ${move.environment}`,
    rollback: `Roll back ${name} in ${move.environment}`,
  }
  return (
    <Modal opened onClose={onClose} title={titles[move.kind]} size="44rem">
      <Stack gap="lg">
        {isOpen && (
          <Select
            label="Environment"
            data={environments.data?.map((each) => each.name) ?? [environment]}
            value={environment}
            onChange={(next) => setEnvironment(next ?? environment)}
          />
        )}
        <Sheet key={move.environment} projectId={projectId} name={name} move={move} onClose={onClose} />
      </Stack>
    </Modal>
  )
}

function Sheet({ projectId, name, move, onClose }: Props) {
  const of = { projectId, name }
  const report = useReport(of, move)
  const act = useMove(of, move)
  const [accepted, setAccepted] = useState(false)
  // Rolling back is the way out of trouble: the server lets it pass, and so does the sheet.
  const gated = move.kind !== 'rollback' && report.data !== undefined && isBad(report.data)
  const verb = verbOf(move)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(gated, { onSuccess: onClose })
      }}
    >
      <Stack gap="lg">
        <Loaded query={report}>{(found) => <Findings of={of} report={found} move={move} />}</Loaded>
        {gated && (
          <Checkbox
            label="The callers above know. Deploy anyway."
            checked={accepted}
            onChange={(event) => setAccepted(event.currentTarget.checked)}
          />
        )}
        <RefusalNotice
          error={act.error}
          anyway={{ verb: `${verb} anyway`, act: () => act.mutate(true, { onSuccess: onClose }) }}
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            {...(gated && { color: 'red.9' })}
            disabled={report.data === undefined || (gated && !accepted)}
            loading={act.isPending}
          >
            {report.data === undefined ? `${verb} ${name}` : `${verb} version ${report.data.version}`}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** A version is promoted towards callers; from there back to where people try things, it is deployed. */
export function verbOf(move: Move): string {
  if (move.kind === 'rollback') return 'Roll back to'
  return move.kind === 'promote' && move.from !== usualEnvironment ? 'Promote' : 'Deploy'
}

/** Changes that the server refuses unless they are forced. */
function isBad({ compatibility, routing }: DeployReport): boolean {
  return compatibility === 'breaking' || routing.regressions.length > 0
}

function Findings({ of, report, move }: { of: { projectId: string; name: string }; report: DeployReport; move: Move }) {
  const target = move.kind === 'deploy' && move.version === undefined ? 'draft' : report.version
  const diff = useDiff(of, report.previous_version, target)
  return (
    <Stack gap="lg">
      <Text>
        {report.previous_version === null ? (
          <>
            Version {report.version} becomes the first to answer in {report.environment}.
          </>
        ) : (
          <>
            Version {report.version} takes the place of version {report.previous_version} in {report.environment}. Calls
            under way end with the old one.
          </>
        )}
      </Text>
      <Compatibility report={report} />
      {report.previous_version !== null && <Callers report={report} />}
      <section>
        <Title order={3} mb={4}>
          Questions
        </Title>
        <Text c="dimmed">{sayRouting(report)}</Text>
        <MovedQuestions routing={report.routing} />
      </section>
      {report.previous_version !== null && (
        <section>
          <Title order={3} mb={6}>
            What changes
          </Title>
          <Loaded query={diff}>{(difference) => <Diff difference={difference} label="What changes" />}</Loaded>
        </section>
      )}
    </Stack>
  )
}

function Compatibility({ report }: { report: DeployReport }) {
  const breaking = report.compatibility === 'breaking'
  return (
    <Verdict
      says={sayCompatibility(report)}
      mood={breaking ? 'bad' : report.routing.regressions.length > 0 ? 'caution' : 'good'}
    >
      {report.changes.length > 0 && (
        <List spacing={2} mt={4}>
          {report.changes.map(({ level, message }) => (
            <List.Item key={message}>
              {sayChange(message)}
              {breaking && level !== 'breaking' && ' (unnoticed by callers)'}
            </List.Item>
          ))}
        </List>
      )}
    </Verdict>
  )
}
