/** A command line as a shell needs to know it. */
export type CommandTree = {
  name: string
  summary: string
  options: Array<{
    long: string
    short: string | null
    summary: string
    choices: readonly string[]
    takesValue: boolean
  }>
  /** The values of its first argument. */
  choices: readonly string[]
  commands: CommandTree[]
}

/** Every command by the words that lead to it, the root first. */
function paths(tree: CommandTree, above: string[] = []): Array<[words: string[], tree: CommandTree]> {
  return [[above, tree], ...tree.commands.flatMap((each) => paths(each, [...above, each.name]))]
}

function optionsOf(tree: CommandTree, root: CommandTree): CommandTree['options'] {
  return tree === root ? root.options : [...tree.options, ...root.options]
}

export function bashCompletion(root: CommandTree): string {
  const cases = paths(root).map(([words, tree]) => {
    const offered = [
      ...tree.commands.map(({ name }) => name),
      ...tree.choices,
      ...optionsOf(tree, root).map(({ long }) => long),
      '--help',
    ]
    return `    '${words.join(' ')}') offered='${offered.join(' ')}' ;;`
  })
  return `# ${root.name} completion for bash
_${root.name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word offered=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${paths(root)
  .filter(([words]) => words.length > 0)
  .map(
    ([words]) =>
      `      '${words.length === 1 ? '' : words.slice(0, -1).join(' ')} ${words.at(-1)}') path='${words.join(' ')}' ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  # Files, where nothing is offered.
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _${root.name} ${root.name}
`
}

export function zshCompletion(root: CommandTree): string {
  const functions = paths(root).map(([words, tree]) => {
    const name = ['_sluice', ...words].join('_').replaceAll('-', '_')
    const options = optionsOf(tree, root).map(({ long, short, summary, choices, takesValue }) => {
      const value = takesValue ? `:value:${choices.length > 0 ? `(${choices.join(' ')})` : '_files'}` : ''
      const names = short === null ? `'${long}` : `'(${short} ${long})'{${short},${long}}'`
      return `    ${names}[${zshText(summary)}]${value}'`
    })
    if (tree.commands.length === 0) {
      const first = tree.choices.length > 0 ? `    '1:${tree.name}:(${tree.choices.join(' ')})'` : "    '*:file:_files'"
      return `${name}() {\n  _arguments \\\n${[...options, first].join(' \\\n')}\n}`
    }
    const commands = tree.commands.map((each) => `    '${each.name}:${zshText(each.summary)}'`)
    const cases = tree.commands.map((each) => `      ${each.name}) ${name}_${each.name.replaceAll('-', '_')} ;;`)
    return `${name}() {
  local line state
  _arguments -C \\
${options.join(' \\\n')} \\
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
${commands.map((each) => `    ${each}`).join('\n')}
      )
      _describe command commands ;;
    argument)
      case $line[1] in
${cases.map((each) => `  ${each}`).join('\n')}
      esac ;;
  esac
}`
  })
  return `#compdef ${root.name}\n\n${functions.toReversed().join('\n\n')}\n\n_sluice "$@"\n`
}

function zshText(text: string): string {
  return text.replaceAll("'", '’').replaceAll(/[[\]:]/g, ' ')
}

export function fishCompletion(root: CommandTree): string {
  const lines = paths(root).flatMap(([words, tree]) => {
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const next = [...tree.commands.map(({ name }) => name), ...tree.choices]
    // Only until one of them is there.
    const here =
      words.length === 0 ? '__fish_use_subcommand' : `${seen}; and not __fish_seen_subcommand_from ${next.join(' ')}`
    const commands = tree.commands.map(
      (each) => `complete -c ${root.name} -f -n '${here}' -a ${each.name} -d ${fishText(each.summary)}`,
    )
    const choices = tree.choices.map((choice) => `complete -c ${root.name} -f -n '${here}' -a ${choice}`)
    const options = tree.options.map(({ long, short, summary, choices: values, takesValue }) => {
      const condition = words.length === 0 ? '' : ` -n '${seen}'`
      const value = takesValue ? (values.length > 0 ? ` -x -a '${values.join(' ')}'` : ' -r') : ''
      const letter = short === null ? '' : ` -s ${short.slice(1)}`
      return `complete -c ${root.name}${condition} -l ${long.slice(2)}${letter}${value} -d ${fishText(summary)}`
    })
    return [...commands, ...choices, ...options]
  })
  return `${lines.join('\n')}\n`
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
