import { BookOpen, Braces, Cable, KeyRound, MessageCircleQuestion, Rocket, type LucideIcon } from 'lucide-react'
import type { JSX } from 'react'
import { Rail } from '../../parts/rail.tsx'
import { Shell } from '../../parts/shell.tsx'
import { paths } from '../../paths.ts'
import { NotFoundPage } from '../not-found.tsx'
import { CallGuide, ConnectGuide, KeysGuide, QueryGuide, QuestionsGuide } from './guides.tsx'
import { Reference } from './reference.tsx'

const guides: Array<{ page: string; label: string; icon: LucideIcon; shown: () => JSX.Element }> = [
  { page: '', label: 'Connect an API', icon: Cable, shown: ConnectGuide },
  { page: 'queries', label: 'Write and deploy', icon: Rocket, shown: QueryGuide },
  { page: 'calls', label: 'Call an endpoint', icon: Braces, shown: CallGuide },
  { page: 'questions', label: 'Ask questions', icon: MessageCircleQuestion, shown: QuestionsGuide },
  { page: 'keys', label: 'Keys and limits', icon: KeyRound, shown: KeysGuide },
  { page: 'api', label: 'API reference', icon: BookOpen, shown: Reference },
]

/** Everything under `/docs`. */
export function DocsPages({ page }: { page: string }) {
  const found = guides.find((each) => each.page === page)
  if (found === undefined) return <NotFoundPage />
  const Shown = found.shown
  return (
    <Shell>
      <Rail
        label="Guides"
        entries={guides.map(({ page: each, label, icon }) => ({
          label,
          icon,
          to: paths.docs(each),
          current: each === page,
        }))}
      >
        <Shown />
      </Rail>
    </Shell>
  )
}
