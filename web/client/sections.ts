import {
  Activity,
  Bell,
  BookOpen,
  Boxes,
  Braces,
  Cable,
  ChartLine,
  Database,
  FileCode2,
  FlaskConical,
  History,
  Hourglass,
  KeyRound,
  LockKeyhole,
  MessageCircleQuestion,
  PackageCheck,
  Radio,
  SlidersHorizontal,
  SquareTerminal,
  UsersRound,
  Waypoints,
  type LucideIcon,
} from 'lucide-react'
import type { SettingsSection } from '../browser/paths.ts'
import type { Role } from './wire.ts'

/** A page of a tab: its part of the address, and how it is called and drawn where one chooses. */
export type Section<Name extends string = string> = { section: Name; label: string; icon: LucideIcon }

/** Connections bring data in, data is what queries read, queries are what is deployed. */
export const buildSections: Section[] = [
  { section: 'connections', label: 'Connections', icon: Cable },
  { section: 'data', label: 'Data', icon: Database },
  { section: 'queries', label: 'Queries', icon: FileCode2 },
  { section: 'playground', label: 'Playground', icon: FlaskConical },
  { section: 'map', label: 'Map', icon: Waypoints },
]

export const deploySections: Section[] = [
  { section: 'endpoints', label: 'Endpoints', icon: Radio },
  { section: 'releases', label: 'Releases', icon: PackageCheck },
  { section: 'try', label: 'Try it', icon: SquareTerminal },
  { section: 'reference', label: 'Reference', icon: BookOpen },
  { section: 'metrics', label: 'Metrics', icon: ChartLine },
  { section: 'requests', label: 'Requests', icon: Activity },
  { section: 'questions', label: 'Questions', icon: MessageCircleQuestion },
  { section: 'alerts', label: 'Alerts', icon: Bell },
  { section: 'keys', label: 'API keys', icon: KeyRound },
]

const allSettings: Array<Section<SettingsSection>> = [
  { section: 'members', label: 'Members', icon: UsersRound },
  { section: 'tokens', label: 'Management tokens', icon: KeyRound },
  { section: 'environments', label: 'Environments', icon: Boxes },
  { section: 'variables', label: 'Variables', icon: Braces },
  { section: 'secrets', label: 'Secrets', icon: LockKeyhole },
  { section: 'retention', label: 'Retention', icon: Hourglass },
  { section: 'audit', label: 'Audit log', icon: History },
  { section: 'project', label: 'Project', icon: SlidersHorizontal },
]

/** The sections someone with this role has any use for. */
export function settingsSections(role: Role): Array<Section<SettingsSection>> {
  return allSettings.filter(({ section }) => section !== 'audit' || role === 'owner')
}
