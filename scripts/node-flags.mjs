/** How the pinned Node is run: by the command line, and by whatever tests or measures the program as its users run it. */

/** Arguments of Node, before the file. */
export const nodeFlags = ['--import', new URL('preload.mjs', import.meta.url).href]
