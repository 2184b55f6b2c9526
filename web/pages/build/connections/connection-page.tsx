import { useEffect, useState } from 'react'
import { Redirect, useSearch } from 'wouter'
import { paths } from '../../../browser/paths.ts'
import { Loaded } from '../../../parts/text/loaded.tsx'
import type { Project } from '../../../client/wire.ts'
import { useDatasource } from '../shared/asked.ts'
import { isUrl } from '../shared/pasted.ts'
import type { Datasource } from '../shared/wire.ts'
import { ConnectionScreen } from './connection-screen.tsx'
import { FileScreen } from './file-screen.tsx'
import { nameFrom } from './use-connection-draft.ts'
import { draftOf, emptyDraft, type Draft } from './fields/draft.ts'

/** `new`, or a connection that stands. One that was just made keeps the screen it was made on. */
export function ConnectionPage({ project, id }: { project: Project; id: string }) {
  const [made, setMade] = useState<Datasource | null>(null)
  const asked = useDatasource(project.id, id, id !== 'new')
  const [pasted] = useState(givenText)
  useEffect(forgetGivenText, [])
  const asks = new URLSearchParams(useSearch())
  const sample = asks.has('sample')
  if (id === 'new' && asks.get('from') === 'files') {
    return <FileScreen key="new" project={project} source={null} onMade={setMade} />
  }
  if (id === 'new') {
    const initial = sample ? sampleDraft() : pasted === '' ? emptyDraft : pastedDraft(pasted)
    return (
      <ConnectionScreen key="new" project={project} source={null} initial={initial} pasted={pasted} onMade={setMade} />
    )
  }
  const known = asked.data ?? (made?.id === id ? made : undefined)
  if (known === undefined) return <Loaded query={asked}>{() => null}</Loaded>
  if (known.kind === 'model') return <Redirect to={paths.model(project.id, known.table_name)} replace />
  if (known.kind === 'file') {
    const key = made?.id === id ? 'new' : id
    return <FileScreen key={key} project={project} source={known} onMade={setMade} />
  }
  return (
    <ConnectionScreen
      key={made?.id === id ? 'new' : id}
      project={project}
      source={known}
      initial={draftOf(known)}
      onMade={setMade}
    />
  )
}

/** The text that was given on the page before. Reading it changes nothing: a page that waits for its code is begun twice. */
function givenText(): string {
  const given: unknown = history.state?.pasted
  return typeof given === 'string' ? given : ''
}

/** Once, so that loading the page anew keeps what was made of it. */
function forgetGivenText(): void {
  if (givenText() !== '') history.replaceState(null, '')
}

function pastedDraft(pasted: string): Draft {
  return isUrl(pasted) ? { ...emptyDraft, url: pasted, name: nameFrom(pasted) } : { ...emptyDraft }
}

/** The server has a small API of its own to try things on, under a name by which nothing else of it is reached. */
function sampleDraft(): Draft {
  const port = location.port === '' ? '' : `:${location.port}`
  return { ...emptyDraft, name: 'Products', url: `http://sample.localhost${port}/sample/products` }
}
