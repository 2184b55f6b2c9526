import type { JSX } from 'react'
import { Link, Redirect } from 'wouter'
import { Shell } from '../../parts/shell.tsx'
import { paths, type SettingsSection } from '../../paths.ts'
import type { Project } from '../../wire.ts'
import { NotFoundPage } from '../not-found.tsx'
import { AuditSection } from './audit.tsx'
import { EnvironmentsSection } from './environments.tsx'
import { MembersSection } from './members.tsx'
import { ProjectSection } from './project.tsx'
import { settingsSections } from './sections.ts'
import classes from './settings.module.css'
import { TokensSection } from './tokens.tsx'

const shown: Record<SettingsSection, (props: { project: Project }) => JSX.Element> = {
  members: MembersSection,
  tokens: TokensSection,
  environments: EnvironmentsSection,
  audit: AuditSection,
  project: ProjectSection,
}

export function SettingsPages({ project, section }: { project: Project; section: string | undefined }) {
  if (section === undefined) return <Redirect to={paths.settings(project.id)} replace />
  if (!isSection(section)) return <NotFoundPage />
  const Section = shown[section]
  return (
    <Shell project={project}>
      <div className={classes.page}>
        <nav className={classes.rail} aria-label="Settings">
          {settingsSections(project.role).map(({ section: each, label, icon: Icon }) => (
            <Link
              key={each}
              ref={each === section ? keepInSight : undefined}
              href={paths.settings(project.id, each)}
              className={classes.entry}
              aria-current={each === section ? 'page' : undefined}
            >
              <Icon size={16} aria-hidden />
              {label}
            </Link>
          ))}
        </nav>
        <div className={classes.content}>
          <Section project={project} />
        </div>
      </div>
    </Shell>
  )
}

/** On a narrow screen the rail scrolls sideways. */
function keepInSight(entry: HTMLElement | null): void {
  entry?.scrollIntoView({ block: 'nearest', inline: 'center' })
}

function isSection(section: string): section is SettingsSection {
  return Object.hasOwn(shown, section)
}
