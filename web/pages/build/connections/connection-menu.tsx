import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Project } from '../../../client/wire.ts'
import type { Datasource } from '../shared/wire.ts'
import { DeleteConnection } from './delete-connection.tsx'

type Props = { project: Project; source: Datasource | null; children?: ReactNode }

/** The seldom acts on a connection; deleting it where it is stored. */
export function ConnectionMenu({ project, source, children }: Props) {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Menu position="bottom-end" shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={`More for ${source?.name ?? 'the connection'}`}>
            <Ellipsis size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown miw={220}>
          {children}
          {source !== null && (
            <Menu.Item
              leftSection={<Trash2 size={15} aria-hidden />}
              c="var(--sluice-danger)"
              onClick={() => setDeleting(true)}
            >
              Delete…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {source !== null && (
        <DeleteConnection project={project} source={source} opened={isDeleting} onClose={() => setDeleting(false)} />
      )}
    </>
  )
}
