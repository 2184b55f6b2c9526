import {
  Activity,
  Bell,
  Cable,
  ChartLine,
  Database,
  FileCode2,
  KeyRound,
  MessageCircleQuestion,
  Radio,
  SquareTerminal,
  type LucideIcon,
} from 'lucide-react'
import { paths } from './paths.ts'

type BuildSection = { label: string; icon: LucideIcon; to: (projectId: string) => string }
type DeploySection = { section: string; label: string; icon: LucideIcon }

/** Connections bring data in, data is what queries read, queries are what is deployed. */
export const buildSections: BuildSection[] = [
  { label: 'Connections', icon: Cable, to: paths.connections },
  { label: 'Data', icon: Database, to: paths.tables },
  { label: 'Queries', icon: FileCode2, to: paths.queries },
]

export const deploySections: DeploySection[] = [
  { section: 'endpoints', label: 'Endpoints', icon: Radio },
  { section: 'try', label: 'Try it', icon: SquareTerminal },
  { section: 'metrics', label: 'Metrics', icon: ChartLine },
  { section: 'requests', label: 'Requests', icon: Activity },
  { section: 'questions', label: 'Questions', icon: MessageCircleQuestion },
  { section: 'alerts', label: 'Alerts', icon: Bell },
  { section: 'keys', label: 'API keys', icon: KeyRound },
]
