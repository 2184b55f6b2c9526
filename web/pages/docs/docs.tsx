import { BookOpen, Braces, Cable, KeyRound, MessageCircleQuestion, Rocket } from 'lucide-react'
import type { JSX } from 'react'
import { Rail } from '../../parts/rail.tsx'
import { Shell } from '../../parts/shell.tsx'
import { paths } from '../../paths.ts'
import type { Section } from '../../sections.ts'
import { NotFoundPage } from '../not-found.tsx'
import { CallGuide, ConnectGuide, KeysGuide, QueryGuide, QuestionsGuide } from './guides.tsx'
import { Reference } from './reference.tsx'

const guides: Array<Section & { shown: () => JSX.Element }> = [
  { section: '', label: 'Connect an API', icon: Cable, shown: ConnectGuide },
  { section: 'queries', label: 'Write and deploy', icon: Rocket, shown: QueryGuide },
  { section: 'calls', label: 'Call an endpoint', icon: Braces, shown: CallGuide },
  { section: 'questions', label: 'Ask questions', icon: MessageCircleQuestion, shown: QuestionsGuide },
  { section: 'keys', label: 'Keys and limits', icon: KeyRound, shown: KeysGuide },
  { section: 'api', label: 'API reference', icon: BookOpen, shown: Reference },
]

/** Everything under `/docs`. */
export function DocsPages({ page }: { page: string }) {
  const found = guides.find(({ section }) => section === page)
  if (found === undefined) return <NotFoundPage />
  const Shown = found.shown
  return (
    <Shell wide>
      <Rail label="Guides" sections={guides} current={page} to={paths.docs}>
        <Shown />
      </Rail>
    </Shell>
  )
}
