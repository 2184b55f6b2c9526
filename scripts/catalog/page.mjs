const titles = {
  code: 'Code',
  work: 'Work',
  sales: 'Sales and support',
  money: 'Money',
  operations: 'Operations',
  mail: 'Mail and messages',
  data: 'Open data',
}

/** The list of docs/catalog.md: every entry with its tables, what it asks for, and the document that it is checked against. */
export function listOf(entries) {
  const tables = entries.reduce((sum, { entry }) => sum + Object.keys(entry.tables).length, 0)
  const sections = Object.entries(titles).map(([category, title]) => {
    const inside = entries.filter(({ entry }) => entry.category === category)
    const rows = inside.map(({ name, entry, contract }) => [
      `\`${name}\``,
      `${entry.title}: ${entry.about}`,
      Object.keys(entry.tables).join(', '),
      Object.keys(entry.inputs ?? {}).join(', ') || '–',
      sourceOf(entry, contract),
    ])
    return `### ${title}\n\n${tableOf(['entry', 'what it is', 'tables', 'asks for', 'document'], rows)}`
  })
  return `${entries.length} entries with ${tables} tables.\n\n${sections.join('\n\n')}`
}

function sourceOf({ document }, contract) {
  const place = document.repository ?? document.package
  return `${place} (${contract.documents[0].version})`
}

/** As the formatter writes tables: every column as wide as its widest cell. */
function tableOf(head, rows) {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, at) => Math.max(...cells.map((row) => [...row[at]].length)))
  const line = (row) => `| ${row.map((cell, at) => cell + ' '.repeat(widths[at] - [...cell].length)).join(' | ')} |`
  const [first, ...rest] = cells
  return [line(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest.map(line)].join('\n')
}
