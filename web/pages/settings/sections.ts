import {
  Boxes,
  History,
  Hourglass,
  KeyRound,
  LockKeyhole,
  SlidersHorizontal,
  UsersRound,
  type LucideIcon,
} from 'lucide-react'
import type { SettingsSection } from '../../paths.ts'
import type { Role } from '../../wire.ts'

type Section = { section: SettingsSection; label: string; icon: LucideIcon }

const sections: Section[] = [
  { section: 'members', label: 'Members', icon: UsersRound },
  { section: 'tokens', label: 'Management tokens', icon: KeyRound },
  { section: 'environments', label: 'Environments', icon: Boxes },
  { section: 'secrets', label: 'Secrets', icon: LockKeyhole },
  { section: 'retention', label: 'Retention', icon: Hourglass },
  { section: 'audit', label: 'Audit log', icon: History },
  { section: 'project', label: 'Project', icon: SlidersHorizontal },
]

/** The sections someone with this role has any use for. */
export function settingsSections(role: Role): Section[] {
  return sections.filter(({ section }) => section !== 'audit' || role === 'owner')
}
