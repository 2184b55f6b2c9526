import { Kbd, Text, UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { Project } from '../../client/wire.ts'
import classes from './jump.module.css'

const Jump = lazy(async () => ({ default: (await import('./jump.tsx')).Jump }))

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The way to anywhere, loaded when it is first asked for. */
export function JumpButton({ project, onCreate }: { project: Project | undefined; onCreate: () => void }) {
  const [asked, setAsked] = useState(0)
  const ask = (): void => setAsked((before) => before + 1)
  useHotkeys([['mod+K', ask]], [])
  return (
    <>
      <UnstyledButton className={classes.button ?? ''} onClick={ask}>
        <Search size={15} aria-hidden />
        <Text component="span" c="dimmed" className={classes.words ?? ''}>
          Jump to…
        </Text>
        <Kbd size="xs" className={classes.key ?? ''} aria-hidden>
          {isApple ? '⌘ K' : 'Ctrl K'}
        </Kbd>
      </UnstyledButton>
      {asked > 0 && (
        <Suspense fallback={null}>
          <Jump project={project} asked={asked} onCreate={onCreate} />
        </Suspense>
      )}
    </>
  )
}
