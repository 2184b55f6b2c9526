import { Argument, Command } from 'commander'
import { bashCompletion, fishCompletion, zshCompletion, type CommandTree } from '../../context/completion.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export function completionCommand(): Command {
  const command = new Command('completion')
    .description(
      'Prints a script that completes commands and options. bash: eval "$(sluice completion bash)". zsh: sluice completion zsh > "${fpath[1]}/_sluice". fish: sluice completion fish > ~/.config/fish/completions/sluice.fish',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(shells)))
  return command.action((shell: keyof typeof shells) => {
    const root = command.parent
    if (root !== null) process.stdout.write(shells[shell](treeOf(root)))
  })
}

function treeOf(command: Command): CommandTree {
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: command.options
      .filter((option) => !option.hidden && option.long !== null && option.long !== undefined)
      .map((option) => ({
        long: option.long ?? '',
        short: option.short ?? null,
        summary: option.description,
        choices: option.argChoices ?? [],
        takesValue: option.required || option.optional,
      })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    commands: command.commands.map(treeOf),
  }
}
