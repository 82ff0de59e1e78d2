/** `posthorn completion SHELL` (behaviour: command-line 11). */
import { Argument, type Command } from 'commander'
import type { Register } from './program.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const registerCompletion: Register = (program, cli) => {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
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
      const script = completionScript[shell](program)
      cli.print(command, { json: { object: 'completion', shell, script }, text: script.trimEnd() })
    })
}

interface Word {
  readonly word: string
  readonly about: string
}

/** The path is '' at the top, '/keys/create' below. */
interface Place {
  readonly path: string
  readonly words: readonly Word[]
  readonly options: readonly Option[]
}

interface Option {
  readonly flag: string
  readonly about: string
  readonly takesValue: boolean
}

function placesOf(command: Command, path = ''): Place[] {
  const subcommands = command.commands.map((child) => ({ word: child.name(), about: child.description() }))
  const values = command.registeredArguments
    .flatMap((argument) => argument.argChoices ?? [])
    .map((word) => ({ word, about: '' }))
  const options = command
    .createHelp()
    .visibleOptions(command)
    .map((option) => ({
      flag: option.long ?? option.short!,
      about: option.description,
      takesValue: option.required || option.optional,
    }))
  return [
    { path, words: [...subcommands, ...values], options },
    ...command.commands.flatMap((child) => placesOf(child, `${path}/${child.name()}`)),
  ]
}

const beforeValues = (places: readonly Place[]): string[] =>
  places.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map(({ flag }) => `'${path} ${flag}'`),
  )

const paths = (places: readonly Place[]): string => places.flatMap(({ path }) => (path === '' ? [] : [path])).join('|')

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function bash(program: Command): string {
  const places = placesOf(program)
  const wordsAt = ({ path, words, options }: Place) =>
    `    '${path}') words='${[...words.map(({ word }) => word), ...options.map(({ flag }) => flag)].join(' ')}' ;;`
  return `# completes posthorn in bash
_posthorn() {
  local at='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in ${paths(places)}) at="$at/$word" ;; esac
  done
  COMPREPLY=()
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in ${beforeValues(places).join('|')}) return ;; esac
  case "$at" in
${places.map(wordsAt).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _posthorn posthorn
`
}

function zsh(program: Command): string {
  const places = placesOf(program)
  const described = ({ word, about }: Word) =>
    quoted(`${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`)
  const wordsAt = ({ path, words, options }: Place) =>
    `    '${path}') found=(${[...words, ...options.map(({ flag, about }) => ({ word: flag, about }))].map(described).join(' ')}) ;;`
  return `#compdef posthorn
# completes posthorn in zsh
_posthorn() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in (${paths(places)}) at="$at/$word" ;; esac
  done
  case "$at \${words[CURRENT-1]}" in (${beforeValues(places).join('|')}) _files; return ;; esac
  case "$at" in
${places.map(wordsAt).join('\n')}
  esac
  _describe posthorn found
}
if [[ "\${funcstack[1]}" = _posthorn ]]; then _posthorn "$@"; else compdef _posthorn posthorn; fi
`
}

function fish(program: Command): string {
  const places = placesOf(program)
  const at = (path: string) => `complete -c posthorn -n ${fishQuoted(`__posthorn_at "${path}"`)}`
  const described = (about: string) => (about === '' ? '' : ` -d ${fishQuoted(about)}`)
  const linesOf = ({ path, words, options }: Place) => [
    ...words.map(({ word, about }) => `${at(path)} -a ${word}${described(about)}`),
    ...options.map(
      ({ flag, about, takesValue }) =>
        `${at(path)} -l ${flag.replace(/^--/, '')}${takesValue ? ' -r' : ''}${described(about)}`,
    ),
  ]
  return `# completes posthorn in fish
function __posthorn_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${paths(places).replaceAll('|', ' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c posthorn -f
${places.flatMap(linesOf).join('\n')}
`
}

const completionScript = { bash, zsh, fish } as const satisfies Record<string, (program: Command) => string>
