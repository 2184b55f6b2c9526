import {
  Braces,
  ChartLine,
  Database,
  FileCode2,
  History,
  House,
  KeyRound,
  MessageCircleQuestion,
  PackageCheck,
  Radio,
  SlidersHorizontal,
  UsersRound,
  Waypoints,
  type LucideIcon,
} from 'lucide-react'
import type { SettingsSection } from '../browser/paths.ts'
import type { Role } from './wire.ts'

type Part<Name extends string> = { section: Name; label: string }

/** An entry of a rail: its part of the address, and its name and icon. Pages that belong together share an entry. */
export type Section<Name extends string = string> = Part<Name> & { icon: LucideIcon; parts?: Array<Part<Name>> }

/** Connections bring data in, data is what queries read, queries are what is deployed. */
export const buildSections: Section[] = [
  { section: 'home', label: 'Home', icon: House },
  { section: 'data', label: 'Data', icon: Database },
  { section: 'queries', label: 'Queries', icon: FileCode2 },
  { section: 'map', label: 'Map', icon: Waypoints },
]

export const deploySections: Section[] = [
  { section: 'endpoints', label: 'Endpoints', icon: Radio },
  { section: 'releases', label: 'Releases', icon: PackageCheck },
  { section: 'questions', label: 'Questions', icon: MessageCircleQuestion },
  {
    section: 'metrics',
    label: 'Usage',
    icon: ChartLine,
    parts: [
      { section: 'metrics', label: 'Overview' },
      { section: 'requests', label: 'Requests' },
      { section: 'alerts', label: 'Alerts' },
    ],
  },
  { section: 'keys', label: 'Keys', icon: KeyRound },
]

const allSettings: Array<Section<SettingsSection>> = [
  {
    section: 'project',
    label: 'Project',
    icon: SlidersHorizontal,
    parts: [
      { section: 'project', label: 'General' },
      { section: 'environments', label: 'Environments' },
      { section: 'retention', label: 'Retention' },
    ],
  },
  {
    section: 'members',
    label: 'People and tokens',
    icon: UsersRound,
    parts: [
      { section: 'members', label: 'Members' },
      { section: 'tokens', label: 'Management tokens' },
    ],
  },
  {
    section: 'variables',
    label: 'Secrets and variables',
    icon: Braces,
    parts: [
      { section: 'variables', label: 'Variables' },
      { section: 'secrets', label: 'Secrets' },
    ],
  },
  { section: 'audit', label: 'Audit', icon: History },
]

/** The sections someone with this role has any use for. */
export function settingsSections(role: Role): Array<Section<SettingsSection>> {
  return allSettings.filter(({ section }) => section !== 'audit' || role === 'owner')
}
