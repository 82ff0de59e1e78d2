/** `posthorn completion SHELL`: a script that makes a shell complete commands and options (behaviour: command-line 11). */
import { Argument, type Command } from 'commander'
import type { Register } from './program.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const registerCompletion: Register = (program, cli) => {
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'which').choices(shells))
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  $ eval "$(posthorn completion bash)"                                     # in ~/.bashrc',
        '  $ eval "$(posthorn completion zsh)"                                      # in ~/.zshrc, behind compinit',
        '  $ posthorn completion fish > ~/.config/fish/completions/posthorn.fish',
      ].join('\n'),
    )
    .action(async (shell: (typeof shells)[number], _options: unknown, command: Command) => {
      const { completionScript } = await import('./completion-scripts.ts')
      const script = completionScript[shell](program)
      cli.print(command, { json: { object: 'completion', shell, script }, text: script.trimEnd() })
    })
}
