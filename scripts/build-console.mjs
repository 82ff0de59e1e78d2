/** Builds `console/dist` where what it is made of has changed since it was built. Plain JavaScript: the scripts that start the service run it under whatever Node there is. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** What else than the files of `console/` decides what is built: the packages, and the documents that its types come from. */
const sharedSources = ['package-lock.json', 'openapi.json', 'console-openapi.json']

/**
 * Builds the console of the checkout at `root` with the Node at `node`, or does nothing where there is no console or it is fresh. `lock` keeps others from building meanwhile and
 * resolves to what releases it. False where the build failed: what it said is on standard error, and an earlier build stays.
 */
export async function buildConsole(root, node, lock) {
  const folder = join(root, 'console')
  if (!existsSync(join(folder, 'package.json'))) return true
  const stamp = stampOf(root)
  if (builtStamp(folder) === stamp) return true
  const unlock = await lock()
  try {
    return builtStamp(folder) === stamp || build(root, node, stamp)
  } finally {
    unlock()
  }
}

/** One text for everything that the build reads. */
function stampOf(root) {
  const hash = createHash('sha256')
  const shared = sharedSources.map((name) => join(root, name)).filter((file) => existsSync(file))
  for (const file of [...filesOf(join(root, 'console')), ...shared])
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

/** Every file below a folder, in order, but for what is installed and what is built. */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) return [path]
      return entry.name === 'node_modules' || entry.name.startsWith('dist') ? [] : filesOf(path)
    })
}

const builtStamp = (folder) => {
  const file = join(folder, 'dist', 'stamp')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** Into a folder beside, which takes the place of the earlier one when it is whole. */
function build(root, node, stamp) {
  console.error('posthorn: building the console, once ...')
  const folder = join(root, 'console')
  const made = join(folder, 'dist-new')
  rmSync(made, { recursive: true, force: true })
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status } = spawnSync(node, [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) {
    console.error(
      'posthorn: the console could not be built (see above); the service runs without it, or with an earlier build of it.',
    )
    return false
  }
  compress(join(made, 'assets'))
  writeFileSync(join(made, 'stamp'), stamp)
  const [current, earlier] = [join(folder, 'dist'), join(folder, 'dist-old')]
  rmSync(earlier, { recursive: true, force: true })
  if (existsSync(current)) renameSync(current, earlier)
  renameSync(made, current)
  rmSync(earlier, { recursive: true, force: true })
  return true
}

/** Once, here, and not at every request. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!/\.(js|css|svg)$/.test(name)) continue
    const bytes = readFileSync(file)
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    )
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
