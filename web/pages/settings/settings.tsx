import type { JSX } from 'react'
import { Redirect } from 'wouter'
import { Rail } from '../../parts/shell/rail.tsx'
import { Shell } from '../../parts/shell/shell.tsx'
import { paths, type SettingsSection } from '../../browser/paths.ts'
import { settingsSections } from '../../client/sections.ts'
import type { Project } from '../../client/wire.ts'
import { NotFoundPage } from '../../parts/shell/not-found.tsx'
import { AuditSection } from './audit.tsx'
import { EnvironmentsSection } from './environments.tsx'
import { MembersSection } from './members.tsx'
import { ProjectSection } from './project.tsx'
import { RetentionSection } from './retention.tsx'
import { SecretsSection } from './secrets.tsx'
import { TokensSection } from './tokens.tsx'
import { VariablesSection } from './variables.tsx'

const shown: Record<SettingsSection, (props: { project: Project }) => JSX.Element> = {
  members: MembersSection,
  tokens: TokensSection,
  environments: EnvironmentsSection,
  variables: VariablesSection,
  secrets: SecretsSection,
  retention: RetentionSection,
  audit: AuditSection,
  project: ProjectSection,
}

export function SettingsPages({ project, section }: { project: Project; section: string | undefined }) {
  if (section === undefined) return <Redirect to={paths.settings(project.id)} replace />
  if (!isSection(section)) return <NotFoundPage />
  const Section = shown[section]
  return (
    <Shell project={project} wide>
      <Rail
        label="Settings"
        sections={settingsSections(project.role)}
        current={section}
        to={(each) => paths.settings(project.id, each)}
      >
        <Section project={project} />
      </Rail>
    </Shell>
  )
}

function isSection(section: string): section is SettingsSection {
  return Object.hasOwn(shown, section)
}
