import { createContext, lazy, Suspense, use, useMemo, useState, type ReactNode } from 'react'
import { useRoute } from 'wouter'
import { useProject } from '../../client/queries.ts'
import { NewProjectDialog } from '../form/new-project-dialog.tsx'

const Jump = lazy(async () => ({ default: (await import('./jump.tsx')).Jump }))

type Open = { jump: () => void; newProject: () => void }

const ShellDialogs = createContext<Open>({ jump: () => undefined, newProject: () => undefined })

export function useShellDialogs(): Open {
  return use(ShellDialogs)
}

/** Dialogs of the frame stand above the pages: a page that arrives brings a frame of its own, and closes none. */
export function WithShellDialogs({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState(0)
  const [creating, setCreating] = useState(false)
  const open = useMemo(
    () => ({ jump: () => setAsked((before) => before + 1), newProject: () => setCreating(true) }),
    [],
  )
  const [, params] = useRoute('/p/:projectId/*?')
  const project = useProject(asked > 0 ? params?.projectId : undefined).data
  return (
    <ShellDialogs value={open}>
      {children}
      {asked > 0 && (
        <Suspense fallback={null}>
          <Jump project={project} asked={asked} onCreate={open.newProject} />
        </Suspense>
      )}
      <NewProjectDialog opened={creating} onClose={() => setCreating(false)} />
    </ShellDialogs>
  )
}
