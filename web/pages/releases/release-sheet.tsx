import { Button, Checkbox, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Loaded } from '../../parts/text/loaded.tsx'
import { RefusalNotice } from '../../parts/text/refusal.tsx'
import { useEnvironments } from '../../client/queries.ts'
import type { Place } from '../deploy/shared/place.ts'
import { useReleaseAct, useReleaseCheck, type ReleaseAct, type Trial } from './release-acts.ts'
import { ReleasePlan } from './release-plan.tsx'
import { isRefusedRelease, sayQueries } from './release-words.ts'
import type { Release } from '../deploy/shared/wire.ts'

type Props = { place: Place; act: ReleaseAct; onClose: () => void }

const titles = {
  release: ({ environment }: ReleaseAct) => `Release changes to ${environment}`,
  promote: ({ environment }: ReleaseAct) => `Promote to ${environment}`,
  rollback: ({ environment }: ReleaseAct) => `Roll back in ${environment}`,
}
const verbs = { release: 'Release', promote: 'Promote', rollback: 'Roll back' }
const whys = {
  release: 'What this release is for',
  promote: 'What this promotion is for',
  rollback: 'What went wrong',
}
const nothing = {
  release: 'Every draft is what answers here already.',
  promote: 'Both environments answer with the same versions.',
  rollback: 'There is nothing to bring back.',
}

const trials: Array<{ value: Trial; label: string }> = [
  { value: 'everyone', label: 'Everyone at once' },
  { value: '50', label: 'Half of the keys first' },
  { value: '10', label: '10 % of the keys first' },
  { value: '1', label: '1 % of the keys first' },
  { value: 'shadow', label: 'Shadow: run alongside, compare, serve nothing' },
]

/** Shows what a release would change and for whom, and makes it only then. */
export function ReleaseSheet({ place, act, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title={titles[act.kind](act)} size="48rem">
      <Sheet key={JSON.stringify(act)} place={place} act={act} onClose={onClose} />
    </Modal>
  )
}

/** Promotes another environment into this one, which is chosen first. */
export function PromoteSheet({ place, onClose }: Omit<Props, 'act'>) {
  const { project, environment } = place
  const environments = useEnvironments(project.id)
  const others = (environments.data ?? []).map(({ name }) => name).filter((name) => name !== environment)
  const [from, setFrom] = useState<string | null>(null)
  return (
    <Modal opened onClose={onClose} title={`Promote to ${environment}`} size="48rem">
      <Stack gap="lg">
        <Select
          label="From"
          placeholder="Choose an environment"
          description={`${environment} then answers with every version that answers there.`}
          data={others}
          value={from}
          onChange={setFrom}
          allowDeselect={false}
        />
        {from !== null && (
          <Sheet key={from} place={place} act={{ kind: 'promote', from, environment }} onClose={onClose} />
        )}
      </Stack>
    </Modal>
  )
}

function Sheet({ place, act, onClose }: Props) {
  const check = useReleaseCheck(place.project.id, act)
  const make = useReleaseAct(place.project.id, act)
  const [accepted, setAccepted] = useState(false)
  const [message, setMessage] = useState('')
  const [trial, setTrial] = useState<Trial>('everyone')
  const found = check.data
  // Going back is the way out of trouble: the server lets it pass, and so does the sheet.
  const gated = act.kind !== 'rollback' && found !== undefined && isRefusedRelease(found)
  const count = found?.queries.length ?? 0
  const send = (force: boolean): void => make.mutate({ force, message, trial }, { onSuccess: onClose })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send(gated)
      }}
    >
      <Stack gap="lg">
        <Loaded query={check}>
          {(release) =>
            release.queries.length === 0 ? (
              <Text c="dimmed">{nothing[act.kind]}</Text>
            ) : (
              <>
                <Text>{saySheet(act, release)}</Text>
                <ReleasePlan place={place} release={release} />
              </>
            )
          }
        </Loaded>
        {count > 0 && (
          <TextInput
            label="Why"
            spellCheck
            placeholder={whys[act.kind]}
            description="Joins the history."
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
            maxLength={2000}
          />
        )}
        {count > 0 && act.kind === 'release' && <WhoGetsIt trial={trial} onChange={setTrial} />}
        {gated && (
          <Checkbox
            label="The callers above know. Release anyway."
            checked={accepted}
            onChange={(event) => setAccepted(event.currentTarget.checked)}
          />
        )}
        <RefusalNotice error={make.error} anyway={{ verb: 'Release anyway', act: () => send(true) }} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            {found !== undefined && count === 0 ? 'Close' : 'Cancel'}
          </Button>
          {(found === undefined || count > 0) && (
            <Button
              type="submit"
              {...(gated && { color: 'red.9' })}
              disabled={found === undefined || (gated && !accepted)}
              loading={make.isPending}
            >
              {found === undefined ? verbs[act.kind] : `${verbs[act.kind]} ${sayQueries(count)}`}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

function WhoGetsIt({ trial, onChange }: { trial: Trial; onChange: (trial: Trial) => void }) {
  return (
    <Select
      label="Who gets it"
      description={
        trial === 'everyone' || trial === 'shadow'
          ? undefined
          : 'Each key has one version for all its calls. It rolls back by itself if it fails or slows down.'
      }
      data={trials}
      value={trial}
      onChange={(chosen) => onChange(chosen as Trial)}
      allowDeselect={false}
    />
  )
}

/** The act in one sentence, in its own direction. */
function saySheet({ kind }: ReleaseAct, { queries }: Release): string {
  const [only] = queries
  if (kind === 'rollback' && queries.length === 1 && only !== undefined)
    return `${only.name} ${sayReturn(only)}. Calls under way end with the version that they found.`
  const verb =
    kind === 'rollback' ? (queries.length === 1 ? 'goes back' : 'go back') : queries.length === 1 ? 'changes' : 'change'
  const together = queries.length === 1 ? '' : ' together'
  return `${sayQueries(queries.length)} ${verb}${together}: callers see all of it or nothing. Calls under way end with the version that they found.`
}

function sayReturn({ version, previous_version: before }: Release['queries'][number]): string {
  if (version === null) return `stops answering: before v${before ?? ''} it was not there`
  return before === null ? `answers with v${version} again` : `goes back from v${before} to v${version}`
}
