import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { Share2 } from 'lucide-react'
import { useState } from 'react'
import { useSearch } from 'wouter'
import { CopyMark } from '../../../parts/text/copy.tsx'
import { paths } from '../../../browser/paths.ts'
import type { Place } from '../shared/place.ts'
import { ShareReference } from './share-reference.tsx'

/** The reference of what is deployed here, for those who call it: by their key, by a link, or as a document. */
export function Share({ place: { project, environment } }: { place: Place }) {
  const [opened, setOpened] = useState(new URLSearchParams(useSearch()).has('share'))
  const address = `/v1/projects/${project.id}/openapi.json?environment=${environment}`
  const link = `${location.origin}${paths.reference(project.id, environment)}`
  return (
    <>
      <Button variant="default" leftSection={<Share2 size={16} aria-hidden />} onClick={() => setOpened(true)}>
        Share
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title={`Share the reference of ${environment}`} size="lg">
        <Stack gap="lg">
          <Text>
            Names, descriptions, slots, columns and examples of what is deployed in {environment}, and no data.
          </Text>
          <div>
            <Text fw={500}>For callers, who open it with their API key</Text>
            <Group gap="xs" wrap="nowrap">
              <Anchor href={link} underline="always" style={{ overflowWrap: 'anywhere' }}>
                {link}
              </Anchor>
              <CopyMark text={link} what="link" />
            </Group>
          </div>
          <div>
            <Text fw={500}>For people without a key</Text>
            <ShareReference projectId={project.id} environment={environment} isOwner={project.role === 'owner'} />
          </div>
          <div>
            <Text fw={500}>For tools</Text>
            <Anchor href={address} underline="always">
              openapi.json
            </Anchor>
          </div>
        </Stack>
      </Modal>
    </>
  )
}
