/** Defines the commands that pages use, for a shell in another folder. */
import { join } from 'node:path'
import { program } from '../program.ts'

const root = join(import.meta.dirname, '../../..')
const modules = join(root, 'node_modules')
const node = `'${process.execPath}'`

/** `npm run posthorn -- …`, `npm test -- <file>`, and npm in the reader's project with the checkout's compiler. */
export const commandLine = `npm() {
  case "$1 $2 $3 $4 " in
    'run posthorn -- '*) shift 3; posthorn "$@" ;;
    'run -s posthorn -- '*) shift 4; posthorn "$@" ;;
    'test -- '*) shift 2; (cd '${root}' && env -u DATABASE_URL -u POSTHORN_DATA_DIR ${node} scripts/test.mjs "$@") ;;
    'install --save-dev typescript @types/node ') command npm install --save-dev '${modules}/typescript' '${modules}/@types/node' ;;
    'pack '* | 'install '* | 'init '* | 'pkg set '*) PATH="$PATH:${modules}/.bin" command npm "$@" ;;
    *) return 64 ;;
  esac
}
posthorn() { ${program.map((word) => `'${word}'`).join(' ')} "$@"; }
`

export const npmSettings = (home: string): NodeJS.ProcessEnv => ({
  npm_config_cache: join(home, 'npm'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
})
